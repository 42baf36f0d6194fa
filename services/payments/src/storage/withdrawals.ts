import type { Scope } from '@backoffice/contracts'
import { assignments, columnNames, type Db, type ReadDb, unnest } from '@backoffice/service-runtime'
import { hasEnded, isVisible, type Withdrawal, type WithdrawalState } from '../domain/withdrawal.ts'
import { inOrder } from './in-order.ts'
import { opened, type StoredDestination } from './sealed-destination.ts'
import { type Change, insertTransitions } from './transitions.ts'
import { type Checked, withUnfinished } from './unfinished.ts'

/** A withdrawal that everyone sees, and whom it belongs to. */
export type WithdrawalRecord = Withdrawal & Scope

/** Any row of the table: an intent is no withdrawal yet, and never becomes a `WithdrawalRecord`. */
export type WithdrawalRow = Omit<WithdrawalRecord, 'status'> & { readonly status: WithdrawalState }

/** The columns that beginning and deciding change. */
const decidedColumns = `
  status text, reason text, version int, created_at timestamptz, updated_at timestamptz, reviewed_at timestamptz,
  paid_at timestamptz, approved_by text
`
const columns = columnNames(`
  id text, operator_id text, brand_id text, environment text, currency text, time_zone text, player_id text,
  amount bigint, method text, destination text, sealed_destination text, ${decidedColumns}
`)

export function isRecord(row: WithdrawalRow): row is WithdrawalRecord {
  return isVisible(row.status)
}

/** Reads rows, intents included, and locks them until the transaction ends. */
export async function lockRows(db: Db, ids: readonly string[]): Promise<WithdrawalRow[]> {
  const rows = await db<WithdrawalRow & StoredDestination>`
    select ${columns} from withdrawal where id = any(${ids}::text[]) order by id for update
  `
  return opened<WithdrawalRow>(db, rows)
}

/** Reads withdrawals, in the order of `ids`, and locks their rows until the transaction ends. */
export async function lockWithdrawals(
  db: Db,
  ids: readonly string[],
): Promise<(Checked<WithdrawalRecord> | undefined)[]> {
  const locked = (await lockRows(db, ids)).filter(isRecord)
  return inOrder(ids, await withUnfinished(db, locked, hasEnded))
}

export async function findWithdrawals(db: ReadDb, ids: readonly string[]): Promise<WithdrawalRecord[]> {
  const rows = await db<WithdrawalRow & StoredDestination>`
    select ${columns} from withdrawal where id = any(${ids}::text[])
  `
  return opened<WithdrawalRow>(db, rows).filter(isRecord)
}

/** Writes what the beginning of a withdrawal, or a decision, has changed, with its history. The rows must be locked. */
export async function updateWithdrawals(db: Db, changes: readonly Change<Withdrawal>[]): Promise<void> {
  const withdrawals = changes.map(({ record }) => record)
  await Promise.all([
    db`
      update withdrawal set ${assignments('w', decidedColumns)}
      from ${unnest('w', withdrawals, `id text, ${decidedColumns}`)}
      where withdrawal.id = w.id
    `,
    insertTransitions(db, changes),
  ])
}

/** Oldest first: ids are ordered by the time of the request. */
export async function listQueue(
  db: ReadDb,
  filter: {
    readonly status: 'under_review' | 'approved'
    readonly brandId?: string | undefined
    readonly after?: string | undefined
    readonly limit: number
  },
): Promise<WithdrawalRecord[]> {
  const { status, brandId = null, after = '', limit } = filter
  // The two statuses are named so that a prepared plan may use the index of the queue.
  const rows = await db<WithdrawalRecord & StoredDestination>`
    select ${columns} from withdrawal
    where status in ('under_review', 'approved') and status = ${status} and id > ${after}
      and (${brandId}::text is null or brand_id = ${brandId})
    order by id limit ${limit}
  `
  return opened<WithdrawalRecord>(db, rows)
}
