import {
  type Environment,
  environments,
  fromMinorUnits,
  type IdOf,
  listedDays,
  type Scope,
  sumRowsMax,
  type Transition,
  type TransitionActor,
} from '@backoffice/contracts'
import { dayMs } from '@backoffice/process'
import { type Fragment, outbox, type ReadDb, sql, withIsoTimes } from '@backoffice/service-runtime'
import type { StatusTransition } from './transition.ts'

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
export function insertTransitions(changes: readonly Change<{ readonly id: string }>[]): Fragment {
  const rows = changes.map(({ record, transition, operationId }): TransitionRow => {
    const { from: fromStatus, to: toStatus, by, ...context } = transition
    const byName = by.kind === 'operator' ? null : by.name
    const who = { byKind: by.kind, byName, byId: by.id ?? null }
    return { ...context, ...who, recordId: record.id, fromStatus, toStatus, operationId }
  })
  return sql`insert into status_transition ${sql.rows('t', rows, columns)}`
}

/** The histories of records, each oldest first. */
export async function listTransitions(
  db: ReadDb,
  recordIds: readonly string[],
): Promise<ReadonlyMap<string, readonly StatusTransition[]>> {
  if (recordIds.length === 0) return new Map()
  const rows = await db<TransitionRow & { operatorId: string | null }>`
    select ${sql.columns(columns)},
      case when by_kind = 'operator' then coalesce(
        (select operator_id from deposit where id = record_id), (select operator_id from withdrawal where id = record_id)
      ) end as operator_id
    from status_transition
    where record_id = any(${recordIds}::text[]) order by record_id, version
  `
  const histories = new Map<string, StatusTransition[]>(recordIds.map((id) => [id, []]))
  for (const row of rows) {
    const { recordId, fromStatus: from, toStatus: to, byKind, byName, byId, operatorId, version, at, reason } = row
    const by = { kind: byKind, name: byName ?? operatorId ?? '', ...(byId === null ? {} : { id: byId }) }
    histories.get(recordId)?.push({ version, from, to, at, by, reason })
  }
  return histories
}

/** Rows of a list, each with who made its last change. */
export async function withLastActors<R extends { readonly id: string }>(
  db: ReadDb,
  rows: readonly R[],
): Promise<(R & { readonly changedBy: TransitionActor | null })[]> {
  const histories = await listTransitions(
    db,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({ ...row, changedBy: histories.get(row.id)?.at(-1)?.by ?? null }))
}

/**
 * A record of a list, and whether the wallet still has to do its part. The statement of the list says it: a later one may
 * find it done, and the record would be shown under another status than the one that it was listed by.
 */
export type ListedRecord<R> = R & { readonly isSettling: boolean }

/**
 * A record as it may be shown: in its former status until the wallet has done its part. One that was read, or listed, does
 * not fit: it may be settling.
 */
export type ShownRecord<R> = R & { readonly settling: boolean }

/** As it is shown to whoever has just changed it: the reply comes when the wallet has done its part. */
export const settled = <R extends object>(record: R): ShownRecord<R> => ({ ...record, settling: false })

/** A record, and whether the wallet has done its part. */
export type CheckedRecord<R> = R & {
  /** The operation that ended the record, until the wallet has done its part of it. */
  readonly unfinished: string | null
}

/**
 * Adds to records that have just been read what is unfinished about them. This needs a later statement than the one
 * that read the records. A statement that waited for locks does not see what was committed to other tables meanwhile.
 * And the order is safe: a command that is done by now makes the state that was read true, and a command that was
 * written since cannot belong to that state.
 * @param hasEnded whether the record is in its last state: only a change that ends a record sends the wallet a
 *   command
 */
export async function withUnfinished<R extends { readonly id: string }>(
  db: ReadDb,
  records: readonly R[],
  hasEnded: (record: R) => boolean,
): Promise<CheckedRecord<R>[]> {
  const ended = records.filter(hasEnded).map(({ id }) => id)
  const unfinished = await outbox.findUnfinished(db, ended)
  return records.map((record) => ({ ...record, unfinished: unfinished.get(record.id) ?? null }))
}

/** Records that have just been read, as a list has them. */
export async function asListed<R extends { readonly id: string }>(
  ...asked: Parameters<typeof withUnfinished<R>>
): Promise<ListedRecord<R>[]> {
  return (await withUnfinished(...asked)).map((record) => ({ ...record, isSettling: record.unfinished !== null }))
}

/**
 * The operator and brand of a record. They are stored with it, so that the service can later act for that brand by
 * itself.
 */
export function scopeOf({ operatorId, brandId, environment, currency, timeZone }: Scope): Scope {
  return { operatorId, brandId, environment, currency, timeZone }
}

/** The record, if it belongs to the brand. A record of another brand is as unknown as one that does not exist. */
export function ofBrand<R extends Scope>(record: R | undefined, brandId: IdOf<'brand'>): R | undefined {
  return record?.brandId === brandId ? record : undefined
}

/** The records with these ids, in the order of the ids; undefined where there is none. */
export function inOrder<R extends { readonly id: string }>(
  ids: readonly string[],
  records: readonly R[],
): (R | undefined)[] {
  const byId = new Map(records.map((record) => [record.id, record]))
  return ids.map((id) => byId.get(id))
}

/** The history up to the version of the record that is shown. Later transitions are not finished everywhere yet. */
export function shownTransitions(
  history: readonly StatusTransition[] = [],
  shown: { readonly version: number },
): Transition[] {
  return history.filter(({ version }) => version <= shown.version).map(withIsoTimes)
}

/** What records of one status and currency add up to, of the records that were read. */
export interface StatusSum {
  readonly status: string
  readonly currency: string
  readonly count: number
  /** Minor units, which may be more than a bigint of PostgreSQL holds. */
  readonly amount: string
  /** How many were read in all, of any status. */
  readonly read: number
}

/**
 * Sums what was read: each status for itself.
 * @param read a query of `status`, `currency`, `amount`, and whether a row `fits` what is asked for
 */
export const sumByStatus = (db: ReadDb, read: Fragment, status: string | null): Promise<StatusSum[]> =>
  db<StatusSum>`
    select status, currency, count(*) filter (where fits and status = coalesce(${status}, status))::int as count,
      coalesce(sum(amount) filter (where fits), 0)::text as amount, (sum(count(*)) over ())::int as read
    from (${read}) summed group by status, currency order by status, currency
  `

/** The reply of a sum. What was asked for and is not there has no line. */
export const sumsOf = <Status extends string>(sums: readonly StatusSum[]) => ({
  data: sums
    .filter(({ count }) => count > 0)
    .map(({ status, currency, count, amount }) => ({
      ...{ status: status as Status, currency, count },
      amount: fromMinorUnits(BigInt(amount)),
    })),
  isWhole: (sums[0]?.read ?? 0) < sumRowsMax,
})

/** The environments that a list is of. Each is read by itself, because an index begins with it. */
export const environmentsOf = ({ environment }: { readonly environment?: Environment | undefined }) =>
  environment === undefined ? environments : [environment]

/** From a time on, and before another; undefined: without an end. */
interface ListedPeriod {
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

interface AskedPeriod {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** What a list is asked for, with the period that it is of. */
export type ListFilter<Asked extends AskedPeriod> = Omit<Asked, keyof AskedPeriod> & ListedPeriod

/**
 * The period that a list is of. No index finds a rare status or method among the records of all operators, so what is
 * read for them has a bound.
 * @param isOwned whether the records of one owner are listed, which an index finds
 */
export function listedPeriod(
  { from, to }: AskedPeriod,
  { isOwned, now }: { readonly isOwned: boolean; readonly now: Date },
): ListedPeriod {
  const end = to === undefined ? undefined : new Date(to)
  if (from !== undefined) return { from: new Date(from), to: end }
  if (isOwned) return { from: undefined, to: end }
  return { from: new Date((end ?? now).getTime() - listedDays * dayMs), to: end }
}
