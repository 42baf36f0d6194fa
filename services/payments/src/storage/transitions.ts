import type { TransitionActor } from '@backoffice/contracts'
import { columnNames, type Db, type ReadDb, rowsOf } from '@backoffice/service-runtime'
import type { StatusTransition } from '../domain/transition.ts'

/** What an operation changes in one record: the record as it is from then on, and the new line of its history. */
export interface Change<R extends { readonly id: string }> {
  readonly record: R
  readonly transition: StatusTransition
  readonly operationId: string
}

const columns = `
  record_id text, version int, from_status text, to_status text, at timestamptz, by_kind text, by_name text, by_id text, reason text,
  operation_id text
`

interface TransitionRow extends Pick<StatusTransition, 'version' | 'at' | 'reason'> {
  readonly recordId: string
  readonly fromStatus: StatusTransition['from']
  readonly toStatus: StatusTransition['to']
  readonly byKind: TransitionActor['kind']
  /** Null for an operator: it is the record's. */
  readonly byName: string | null
  readonly byId: string | null
  readonly operationId: string
}

/**
 * Writes the history of changes, in the transaction that writes the records. An operator changes its own records only, and
 * a record never changes hands: so its name stands in the record alone.
 */
export async function insertTransitions(db: Db, changes: readonly Change<{ readonly id: string }>[]): Promise<void> {
  const rows = changes.map(({ record, transition, operationId }): TransitionRow => {
    const { from: fromStatus, to: toStatus, by, ...occasion } = transition
    const byName = by.kind === 'operator' ? null : by.name
    const who = { byKind: by.kind, byName, byId: by.id ?? null }
    return { ...occasion, ...who, recordId: record.id, fromStatus, toStatus, operationId }
  })
  await db`insert into status_transition ${rowsOf('t', rows, columns)}`
}

/** The histories of records, each oldest first. */
export async function listTransitions(
  db: ReadDb,
  recordIds: readonly string[],
): Promise<ReadonlyMap<string, readonly StatusTransition[]>> {
  if (recordIds.length === 0) return new Map()
  const rows = await db<TransitionRow & { operatorId: string | null }>`
    select ${columnNames(columns)},
      case when by_kind = 'operator' then coalesce(
        (select operator_id from deposit where id = record_id), (select operator_id from withdrawal where id = record_id)
      ) end as operator_id
    from status_transition
    where record_id = any(${recordIds}::text[]) order by record_id, version
  `
  const histories = new Map<string, StatusTransition[]>(recordIds.map((id) => [id, []]))
  for (const { recordId, fromStatus: from, toStatus: to, byKind, byName, operatorId, version, at, reason } of rows) {
    const by = { kind: byKind, name: byName ?? operatorId ?? '' }
    histories.get(recordId)?.push({ version, from, to, at, by, reason })
  }
  return histories
}
