import type { TransitionActor } from '@backoffice/contracts'
import type { Db, ReadDb } from '@backoffice/service-runtime'
import type { StatusTransition } from '../domain/transition.ts'

/** What an operation does to one record: how the record is from then on, and the line that its history gets. */
export interface Change<R extends { readonly id: string }> {
  readonly record: R
  readonly transition: StatusTransition
  readonly operationId: string
}

/** Writes the history of changes, in the transaction that writes the records. */
export async function insertTransitions(db: Db, changes: readonly Change<{ readonly id: string }>[]): Promise<void> {
  const transitions = changes.map(({ transition }) => transition)
  await db`
    insert into status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, reason, operation_id)
    select * from unnest(
      ${changes.map(({ record }) => record.id)}::text[], ${transitions.map(({ version }) => version)}::int[],
      ${transitions.map(({ from }) => from)}::text[], ${transitions.map(({ to }) => to)}::text[],
      ${transitions.map(({ at }) => at)}::timestamptz[], ${transitions.map(({ by }) => by.kind)}::text[],
      ${transitions.map(({ by }) => by.name)}::text[], ${transitions.map(({ reason }) => reason)}::text[],
      ${changes.map(({ operationId }) => operationId)}::text[]
    )
  `
}

interface TransitionRow extends Omit<StatusTransition, 'by'> {
  readonly recordId: string
  readonly byKind: TransitionActor['kind']
  readonly byName: string
}

/** The histories of records, each oldest first. */
export async function listTransitions(
  db: ReadDb,
  recordIds: readonly string[],
): Promise<ReadonlyMap<string, readonly StatusTransition[]>> {
  if (recordIds.length === 0) return new Map()
  const rows = await db<TransitionRow>`
    select record_id, version, from_status as from, to_status as to, at, by_kind, by_name, reason
    from status_transition where record_id = any(${recordIds}::text[]) order by record_id, version
  `
  const histories = new Map<string, StatusTransition[]>(recordIds.map((id) => [id, []]))
  for (const { recordId, byKind, byName, ...transition } of rows)
    histories.get(recordId)?.push({ ...transition, by: { kind: byKind, name: byName } })
  return histories
}
