import { type IdOf, type Input, type operations, type Scope, sumRowsMax } from '@backoffice/contracts'
import {
  type ApprovedProposal,
  type Db,
  type Fragment,
  type LockingDb,
  outbox,
  type ReadDb,
  sql,
} from '@backoffice/service-runtime'
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
import { isConfirmed, type StoredDeposit } from './deposit.ts'

/** A deposit, and whom it belongs to. */
export type DepositRecord = StoredDeposit & Scope

/** The columns that confirming and failing change. */
const settledColumns = 'status text, failure_reason text, version int, confirmed_at timestamptz, failed_at timestamptz'
const depositColumns = `
  id text, operator_id text, brand_id text, environment text, currency text, time_zone text, player_id text,
  external_reference text, amount bigint, method text, created_at timestamptz, ${settledColumns}
` as const
const columns = sql.columns(depositColumns)

/**
 * Locks players, so that the deposits of one player are created one after another and no two of them read the same
 * day's sum. If two deposits are a player's first, the second waits until the row of the first is committed.
 */
export function lockDepositors(players: readonly Pick<PlayerOfDay, 'playerId'>[]): Fragment[] {
  const playerIds = players.map(({ playerId }) => playerId)
  return [
    sql`
      insert into depositor (player_id) select id from unnest(${playerIds}::text[]) as id order by id
      on conflict do nothing
    `,
    sql`select from depositor where player_id = any(${playerIds}::text[]) order by player_id for update`,
  ]
}

export interface PlayerOfDay {
  readonly playerId: IdOf<'player'>
  /** A day begins and ends at midnight in this time zone, with its changes to summer time. */
  readonly timeZone: string
}

const today = sql`(now() at time zone asked.time_zone)::date`
const midnight = sql`date_trunc('day', now() at time zone asked.time_zone)`

/**
 * What `asked` (player_id, time_zone) deposited today, pending and confirmed, in minor units. It is kept beside the
 * player's last day, in `depositor p`. PostgreSQL's clock may have been behind that day since, or set back: then the day is
 * summed.
 */
const dayTotal = sql`case
  when p.day = ${today} then p.day_total
  when p.day < ${today} then 0
  else (
    select coalesce(sum(d.amount), 0) from deposit d
    where d.player_id = asked.player_id and d.status <> 'failed'
      and d.created_at >= ${midnight} at time zone asked.time_zone
      and d.created_at < (${midnight} + interval '1 day') at time zone asked.time_zone
  )
end::bigint as day_total`

/** What each player deposited today, by PostgreSQL's clock, in the order of `players`. */
export async function sumDayDeposits(db: ReadDb, players: readonly PlayerOfDay[]): Promise<bigint[]> {
  const rows = await db<{ dayTotal: bigint }>`
    select ${dayTotal}
    from ${sql.unnest('asked', players, 'player_id text, time_zone text')}
    left join depositor p on p.player_id = asked.player_id
    order by place
  `
  return rows.map((row) => row.dayTotal)
}

export interface DepositKey extends PlayerOfDay {
  readonly brandId: IdOf<'brand'>
  readonly externalReference: string
}

/** What decides whether a deposit may begin. */
export interface BeforeDeposit {
  readonly dayTotal: bigint
  /** The sum of all deposits of the player that were begun before. */
  readonly deposited: bigint
  /** The id of the deposit that has the reference already. */
  readonly taken: string | null
}

/** In the order of `keys`. The depositors must be locked. */
export function readBeforeDeposits(db: LockingDb, keys: readonly DepositKey[]): Promise<BeforeDeposit[]> {
  return db<BeforeDeposit>`
    select ${dayTotal}, p.deposited, (
      select d.id from deposit d where d.brand_id = asked.brand_id and d.external_reference = asked.external_reference
    ) as taken
    from ${sql.unnest('asked', keys, 'player_id text, time_zone text, brand_id text, external_reference text')}
    join depositor p on p.player_id = asked.player_id
    order by place
  `
}

export interface NewDeposit extends Change<DepositRecord> {
  /** The sums of the player's deposits, and of those of the day, this one included. */
  readonly deposited: bigint
  readonly dayTotal: bigint
}

const sumColumns = 'player_id text, deposited bigint, day_total bigint, created_at timestamptz, time_zone text'
/** The day of deposit `d`. */
const dayOf = sql`(d.created_at at time zone d.time_zone)::date`

/**
 * Writes new deposits with their histories. The depositors must be locked, and differ. A reference that was taken
 * meanwhile causes a unique violation.
 */
export function insertDeposits(changes: readonly NewDeposit[]): Fragment[] {
  const deposits = changes.map(({ record }) => record)
  const sums = changes.map(({ record, deposited, dayTotal }) => ({ ...record, deposited, dayTotal }))
  return [
    sql`
      insert into deposit ${sql.rows('d', deposits, depositColumns)}
      -- In one order, so that two transactions that want the same references cannot wait for each other.
      order by d.brand_id, d.external_reference
    `,
    insertTransitions(changes),
    sql.everyRow(
      sums,
      sql`
        update depositor p set deposited = d.deposited, day = greatest(p.day, ${dayOf}),
          day_total = case when p.day > ${dayOf} then p.day_total else d.day_total end
        from ${sql.unnest('d', sums, sumColumns)} where p.player_id = d.player_id
      `,
    ),
  ]
}

/** Reads deposits, in the order of `ids`, and locks their rows until the transaction ends. */
export async function lockDeposits(
  db: LockingDb,
  ids: readonly string[],
): Promise<(CheckedRecord<DepositRecord> | undefined)[]> {
  const locked = await db<DepositRecord>`
    select ${columns} from deposit where id = any(${ids}::text[]) order by id for update
  `
  return inOrder(ids, await withUnfinished(db, locked, isConfirmed))
}

export function findDeposits(db: ReadDb, ids: readonly string[]): Promise<DepositRecord[]> {
  return db<DepositRecord>`select ${columns} from deposit where id = any(${ids}::text[])`
}

/** Writes what confirming and failing changed, with its history. The rows must be locked. */
export function updateDeposits(changes: readonly Change<DepositRecord>[]): Fragment[] {
  const deposits = changes.map(({ record }) => record)
  const failed = deposits.filter(({ status }) => status === 'failed')
  return [
    sql.updateRows('deposit', deposits, settledColumns),
    insertTransitions(changes),
    ...(failed.length === 0 ? [] : [...lockDepositors(failed), takeFromDay(failed)]),
  ]
}

/** What failed is no part of its day, as long as that is the player's last. */
const takeFromDay = (failed: readonly DepositRecord[]) => sql`
  update depositor p set day_total = p.day_total - f.amount
  from (
    select d.player_id, ${dayOf} as day, sum(d.amount) as amount
    from ${sql.unnest('d', failed, 'player_id text, amount bigint, created_at timestamptz, time_zone text')} group by 1, 2
  ) f
  where p.player_id = f.player_id and p.day = f.day
`

/** `status` is as it is shown: `pending` until the wallet has done its part. The period is that of the creation. */
type DepositFilter = ListFilter<Input<typeof operations.payments.listDeposits>>

const isSettling = sql`(deposit.status = 'confirmed' and ${outbox.isUnfinished(sql`deposit.id`)})`

/** Newest first. The last one of a page is where the next begins. */
export function listDeposits(db: ReadDb, filter: DepositFilter): Promise<ListedRecord<DepositRecord>[]> {
  const { brandId, playerId, externalReference, limit } = filter
  const matches = matchesOf(filter)
  const listed = sql`${columns}, ${isSettling} as is_settling`
  // Statements of their own, since each uses another index.
  if (brandId !== undefined && externalReference !== undefined)
    return db<ListedRecord<DepositRecord>>`
      select ${listed} from deposit
      where brand_id = ${brandId} and external_reference = ${externalReference} and ${matches}
    `
  if (playerId === undefined && externalReference !== undefined)
    return db<ListedRecord<DepositRecord>>`
      select ${listed} from (
        select found.* from brand b cross join lateral (
          select * from deposit where brand_id = b.id and external_reference = ${externalReference} limit 1
        ) found where b.environment = any(${environmentsOf(filter)}::text[])
      ) deposit
      where ${matches} order by created_at desc, id desc limit ${limit}
    `
  return db<ListedRecord<DepositRecord>>`select ${listed} from (${newestOf(filter)}) deposit`
}

/** The newest deposits of an owner, or of all. */
function newestOf(filter: DepositFilter): Fragment {
  const { brandId, playerId, limit } = filter
  const newest = sql`and ${matchesOf(filter)} order by created_at desc, id desc limit ${limit}`
  if (brandId === undefined && playerId === undefined)
    return sql`
      select found.* from unnest(${environmentsOf(filter)}::text[]) as asked cross join lateral (
        select * from deposit where environment = asked ${newest}
      ) found
      order by created_at desc, id desc limit ${limit}
    `
  const whose = playerId === undefined ? sql`brand_id = ${brandId}` : sql`player_id = ${playerId}`
  return sql`select * from deposit where ${whose} ${newest}`
}

/** What the newest of an owner and a period add up to, those of a status and method. */
export function sumDeposits(
  db: ReadDb,
  { status, method, ...whose }: Omit<DepositFilter, 'limit'>,
): Promise<StatusSum[]> {
  const wanted = method ?? null
  return sumByStatus(
    db,
    sql`
      select ${shownStatus} as status, currency, amount, (${wanted}::text is null or method = ${wanted}) as fits
      from (${newestOf({ ...whose, limit: sumRowsMax })}) deposit
    `,
    status ?? null,
  )
}

/** What `shownDeposits` makes of it. */
const shownStatus = sql`case when ${isSettling} then 'pending' else deposit.status end`

function matchesOf(filter: DepositFilter) {
  const { brandId = null, environment = null, playerId = null, status = null, method = null } = filter
  const { externalReference = null, from = null, to = null, before } = filter
  const place =
    before === undefined
      ? sql``
      : sql`and (created_at, id) < (select last.created_at, last.id from deposit last where last.id = ${before})`
  return sql`
    created_at >= coalesce(${from}::timestamptz, '-infinity') and created_at < coalesce(${to}::timestamptz, 'infinity')
    and (${brandId}::text is null or brand_id = ${brandId})
    and (${environment}::text is null or environment = ${environment})
    and (${playerId}::text is null or player_id = ${playerId}) and (${status}::text is null or ${shownStatus} = ${status})
    and (${method}::text is null or method = ${method})
    and (${externalReference}::text is null or external_reference = ${externalReference}) ${place}
  `
}

/** Records that a command was given up, by whom, and who had proposed it. */
export async function insertEndedCommand(
  db: Db,
  ended: {
    readonly commandId: string
    readonly depositId: IdOf<'deposit'>
    readonly proposal: ApprovedProposal
    readonly by: string
    readonly at: Date
    readonly operationId: string
  },
): Promise<void> {
  const { commandId, depositId, proposal, by, at, operationId } = ended
  await db`
    insert into ended_command
      (command_id, deposit_id, proposed_by, proposal_operation_id, ended_by, ended_at, operation_id)
    values (${commandId}, ${depositId}, ${proposal.proposedBy}, ${proposal.operationId}, ${by}, ${at}::timestamptz,
      ${operationId})
  `
}
