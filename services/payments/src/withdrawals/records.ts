import {
  type IdOf,
  type Input,
  type operations,
  type Scope,
  sumRowsMax,
  type WaitingStatus,
} from '@backoffice/contracts'
import { firstId, hourMs } from '@backoffice/process'
import { type Fragment, type LockingDb, outbox, type ReadDb, sql } from '@backoffice/service-runtime'
import { isInFile } from '../files/records.ts'
import {
  type Change,
  type CheckedRecord,
  environmentsOf,
  inOrder,
  insertTransitions,
  type ListedRecord,
  type ListFilter,
  type StatusSum,
  sumByStatus,
  withUnfinished,
} from '../records.ts'
import { type Destination, forgottenDestination, openDestinations, type StoredRow } from './destination.ts'
import {
  finalStatuses,
  hasEnded,
  isVisible,
  type Past,
  type PaymentKey,
  type StoredWithdrawal,
  type WithdrawalState,
} from './withdrawal.ts'

/** A withdrawal that everyone sees, and whom it belongs to. */
export type WithdrawalRecord = StoredWithdrawal & Scope & Destination

/** Any row of the table: an intent is no withdrawal yet, and never becomes a `WithdrawalRecord`. */
export type WithdrawalRow = Omit<WithdrawalRecord, 'status'> & { readonly status: WithdrawalState }

/** The columns that beginning and deciding change. */
const decidedColumns = `
  status text, reason text, version int, created_at timestamptz, updated_at timestamptz, reviewed_at timestamptz,
  paid_at timestamptz, approved_by text, approved_by_id text
`
const fixedColumns = `
  id text, operator_id text, brand_id text, currency text, time_zone text, player_id text,
  amount bigint, method text, destination text, sealed_destination text
`
const columns = sql.columns(`${fixedColumns}, environment text, ${decidedColumns}`)
const columnsLocked = sql.columns(`${fixedColumns}, ${decidedColumns}`, 'w')

export function isRecord(row: WithdrawalRow): row is WithdrawalRecord {
  return isVisible(row.status)
}

/**
 * Reads rows, intents included, and locks them until the transaction ends. Where money belongs is what is kept of the brand,
 * and not what the row says: so in production nothing is decided as in the sandbox.
 */
export async function lockRows(db: LockingDb, ids: readonly string[]): Promise<WithdrawalRow[]> {
  const rows = await db<StoredRow<WithdrawalRow>>`
    select ${columnsLocked}, b.environment from withdrawal w join brand b on b.id = w.brand_id
    where w.id = any(${ids}::text[]) order by w.id for update of w
  `
  return openDestinations<WithdrawalRow>(db, rows)
}

/** Reads withdrawals, in the order of `ids`, and locks their rows until the transaction ends. */
export async function lockWithdrawals(
  db: LockingDb,
  ids: readonly string[],
): Promise<(CheckedRecord<WithdrawalRecord> | undefined)[]> {
  const locked = (await lockRows(db, ids)).filter(isRecord)
  return inOrder(ids, await withUnfinished(db, locked, hasEnded))
}

/**
 * For which withdrawals the ledger reserves the money, by their ids. The wallet has said so over the broker, and so may
 * whoever has its password there; this is read in its tables.
 */
export async function findReserved(db: ReadDb, withdrawals: readonly WithdrawalRecord[]): Promise<ReadonlySet<string>> {
  if (withdrawals.length === 0) return new Set()
  const rows = await db<{ id: string }>`
    select asked.id
    from ${sql.unnest('asked', withdrawals, 'id text, brand_id text, player_id text, amount bigint, currency text')}
    join wallet.open_hold h on h.brand_id = asked.brand_id and h.withdrawal_id = asked.id
      and h.player_id = asked.player_id and h.amount = asked.amount and h.currency = asked.currency
  `
  return new Set(rows.map(({ id }) => id))
}

export async function findWithdrawals(db: ReadDb, ids: readonly string[]): Promise<WithdrawalRecord[]> {
  const rows = await db<StoredRow<WithdrawalRow>>`
    select ${columns} from withdrawal where id = any(${ids}::text[])
  `
  return openDestinations<WithdrawalRow>(db, rows).filter(isRecord)
}

/** Writes what the beginning of a withdrawal, or a decision, has changed, with its history. The rows must be locked. */
export function updateWithdrawals(changes: readonly Change<StoredWithdrawal>[]): Fragment[] {
  const withdrawals = changes.map(({ record }) => record)
  return [sql.updateRows('withdrawal', withdrawals, decidedColumns), insertTransitions(changes)]
}

function isOwned(filter: SummedQueue | WithdrawalFilter) {
  const { operatorId = null, brandId = null, playerId = null } = filter
  return sql`
    (${operatorId}::text is null or operator_id = ${operatorId}) and (${brandId}::text is null or brand_id = ${brandId})
      and (${playerId}::text is null or player_id = ${playerId})
  `
}

/** Somebody who would pay, and up to which amount they may pay what they approved, in minor units. */
interface Payer {
  readonly name: string
  readonly id: string
  readonly upTo: bigint
}

/** As `payTakesTwo` judges it, but for what somebody has paid alone already. */
const isPayableBy = ({ name, id, upTo }: Payer) => sql`
  (environment <> 'production' or amount <= ${upTo}::bigint
    or approved_by is distinct from ${name} and approved_by_id is distinct from ${id})
`

type WithdrawalQueueFilter = Omit<Input<typeof operations.payments.withdrawalQueue>, 'payable'> & {
  readonly payer?: Payer
}
/** The queue of a player is summed, and listed by nobody. */
type SummedQueue = WithdrawalQueueFilter & { readonly playerId?: IdOf<'player'> | undefined }

type QueueOrder = NonNullable<WithdrawalQueueFilter['order']>

/** Ids are ordered by the time of the request. An amount never changes, so a cursor is an id in each order. */
function orderOf(order: QueueOrder, after: string | undefined) {
  const place = sql`(select amount, id from withdrawal where id = ${after ?? ''})`
  const isBelow = (condition: Fragment) => (after === undefined ? sql`true` : condition)
  switch (order) {
    case 'oldest':
      return { by: sql`id`, isBelow: sql`id > ${after ?? ''}` }
    case 'newest':
      return { by: sql`id desc`, isBelow: isBelow(sql`id < ${after ?? ''}`) }
    case 'largest':
      return { by: sql`amount desc, id desc`, isBelow: isBelow(sql`(amount, id) < ${place}`) }
    case 'smallest':
      return { by: sql`amount, id`, isBelow: isBelow(sql`(amount, id) > ${place}`) }
    default:
      return order satisfies never
  }
}

export async function listQueue(db: ReadDb, filter: WithdrawalQueueFilter): Promise<WithdrawalRecord[]> {
  const rows = await db<StoredRow<WithdrawalRecord>>`select ${columns} from (${waitingOf(filter)}) waiting`
  return openDestinations<WithdrawalRecord>(db, rows)
}

/** The withdrawals that wait, in an order. */
function waitingOf(filter: SummedQueue): Fragment {
  const { status = 'under_review', order = 'oldest', from = null, to = null, after, limit, payer, withoutFile } = filter
  const { by, isBelow } = orderOf(order, after)
  const isMeant = withoutFile === true ? sql`not ${isInFile(sql`withdrawal.payment_file`)}` : sql`true`
  // The two statuses are named so that a prepared plan may use the index of the queue, which has no other rows.
  return sql`
    select found.* from unnest(${environmentsOf(filter)}::text[]) as asked cross join lateral (
      select * from withdrawal
      where status in ('under_review', 'approved') and status = ${status} and environment = asked and ${isBelow}
        and created_at >= coalesce(${from}::timestamptz, '-infinity')
        and created_at < coalesce(${to}::timestamptz, 'infinity') and ${isOwned(filter)} and ${isMeant}
        and ${payer === undefined ? sql`true` : isPayableBy(payer)}
      order by ${by} limit ${limit}
    ) found
    order by ${by} limit ${limit}
  `
}

/** What the withdrawals that wait longest in a queue add up to. */
export const sumQueue = (
  db: ReadDb,
  queue: WaitingStatus,
  { status, ...filter }: Omit<WithdrawalFilter, 'limit' | 'from' | 'to'> & Pick<WithdrawalQueueFilter, 'from' | 'to'>,
): Promise<StatusSum[]> =>
  sumByStatus(
    db,
    sql`
      select status, currency, amount, true as fits
      from (${waitingOf({ ...filter, status: queue, limit: sumRowsMax })}) waiting
    `,
    status ?? null,
  )

/** `status` is as it is shown: the former one until the wallet has done its part. The period is that of the request. */
type WithdrawalFilter = ListFilter<Input<typeof operations.payments.listWithdrawals>>

/** The time in an id is that of the first attempt of the request, by another clock perhaps. */
const idAheadMs = hourMs
/** Comes after every id. */
const afterAllIds = '~'

const isSettling = sql`(withdrawal.status = any(${finalStatuses}::text[]) and ${outbox.isUnfinished(sql`withdrawal.id`)})`

/** What `shownWithdrawals` makes of it: the history has the former status. */
const shownStatus = sql`
  case when ${isSettling} then (
    select t.from_status from status_transition t where t.record_id = withdrawal.id and t.version = withdrawal.version
  ) else withdrawal.status end
`

/** Newest first. */
export async function listWithdrawals(db: ReadDb, filter: WithdrawalFilter): Promise<ListedRecord<WithdrawalRecord>[]> {
  const rows = await db<StoredRow<ListedRecord<WithdrawalRecord>>>`
    select ${columns}, ${isSettling} as is_settling from (${newestOf(filter)}) withdrawal
  `
  return openDestinations<ListedRecord<WithdrawalRecord>>(db, rows)
}

/** What the newest of an owner and a period add up to, those of a status. */
export const sumWithdrawals = (
  db: ReadDb,
  { status, ...whose }: Omit<WithdrawalFilter, 'limit'>,
): Promise<StatusSum[]> =>
  sumByStatus(
    db,
    sql`
      select ${shownStatus} as status, currency, amount, true as fits
      from (${newestOf({ ...whose, limit: sumRowsMax })}) withdrawal
    `,
    status ?? null,
  )

/** The newest withdrawals of an owner, or of all. */
function newestOf(filter: WithdrawalFilter): Fragment {
  const { status = null, from = null, to = null, before = afterAllIds, limit } = filter
  const lowest = from === null ? '' : firstId('wdr', new Date(from.getTime() - idAheadMs))
  const highest = to === null ? afterAllIds : firstId('wdr', new Date(to.getTime() + idAheadMs))
  return sql`
    select found.* from unnest(${environmentsOf(filter)}::text[]) as asked cross join lateral (
      select * from withdrawal
      where ${rangeOf(filter)} and environment = asked and version > 0
        and id < ${before} and id >= ${lowest} and id < ${highest}
        and (${from}::timestamptz is null or created_at >= ${from}::timestamptz)
        and (${to}::timestamptz is null or created_at < ${to}::timestamptz)
        and (${status}::text is null or ${shownStatus} = ${status}) and ${isOwned(filter)}
      order by id desc limit ${limit}
    ) found
    order by id desc limit ${limit}
  `
}

/** Statements of their own, since each uses another index. */
function rangeOf({ playerId, operatorId }: WithdrawalFilter) {
  if (playerId !== undefined) return sql`player_id = ${playerId}`
  return operatorId === undefined ? sql`true` : sql`operator_id = ${operatorId}`
}

type AskedWithdrawal = Pick<WithdrawalRecord, 'id' | 'playerId' | 'paidAt'>

const askedColumns = 'id text, player_id text, paid_at timestamptz'

/** Destinations are opened one by one to be compared, so there is a bound. */
const destinationsMax = 50

/** What the player did before each withdrawal, in the order of `asked`. @param since from when on sums are taken */
export async function readPasts(db: ReadDb, asked: readonly AskedWithdrawal[], since: Date): Promise<Past[]> {
  const [sums, destinations] = await Promise.all([readSums(db, asked, since), readDestinations(db, asked)])
  return sums.map(({ id, deposits, deposited, withdrawals, withdrawn, paidBefore }) => ({
    paidBefore,
    destinations: destinations.get(id) ?? [],
    deposits: { count: deposits, amount: BigInt(deposited) },
    withdrawals: { count: withdrawals, amount: BigInt(withdrawn) },
  }))
}

interface Sums {
  readonly id: string
  readonly deposits: number
  /** As text, because a sum may be larger than a bigint. */
  readonly deposited: string
  readonly withdrawals: number
  readonly withdrawn: string
  readonly paidBefore: boolean
}

function readSums(db: ReadDb, asked: readonly AskedWithdrawal[], since: Date): Promise<Sums[]> {
  return db<Sums>`
    select asked.id, d.deposits, d.deposited, w.withdrawals, w.withdrawn, (
      select true from withdrawal p
      where p.player_id = asked.player_id and p.paid_at < coalesce(asked.paid_at, 'infinity') and p.id <> asked.id
      limit 1
    ) is not null as paid_before
    from ${sql.unnest('asked', asked, askedColumns)}
    cross join lateral (
      select count(*)::int as deposits, coalesce(sum(amount), 0)::text as deposited from deposit
      -- The first condition is that of the index.
      where player_id = asked.player_id and status <> 'failed' and status = 'confirmed' and created_at >= ${since}::timestamptz
    ) d
    cross join lateral (
      select count(*)::int as withdrawals, coalesce(sum(amount), 0)::text as withdrawn from withdrawal p
      where p.player_id = asked.player_id and p.paid_at >= ${since}::timestamptz and p.id <> asked.id
    ) w
    order by place
  `
}

/** Where the latest withdrawals went that were paid before each of these, by the id of the later one. */
async function readDestinations(
  db: ReadDb,
  asked: readonly AskedWithdrawal[],
): Promise<ReadonlyMap<string, readonly PaymentKey[]>> {
  type Earlier = Destination & PaymentKey & { readonly id: string; readonly askedId: string }
  const rows = await db<StoredRow<Earlier>>`
    select asked.id as asked_id, before.id, before.method, before.destination, before.sealed_destination
    from ${sql.unnest('asked', asked, askedColumns)}
    cross join lateral (
      select p.id, p.method, p.destination, p.sealed_destination from withdrawal p
      where p.player_id = asked.player_id and p.paid_at < coalesce(asked.paid_at, 'infinity') and p.id <> asked.id
        and p.destination <> ${forgottenDestination}
      order by p.paid_at desc limit ${destinationsMax}
    ) before
  `
  return Map.groupBy(openDestinations<Earlier>(db, rows), ({ askedId }) => askedId)
}
