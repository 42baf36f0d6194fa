import type { DepositStatus, Scope } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { type EntityManager, LockMode } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { Deposit } from '../domain/deposit.ts'
import { DepositEntity, type DepositRow } from './entities.ts'

/** A deposit, and whom it belongs to. */
export type DepositRecord = Deposit & Scope

/**
 * Takes the lock that makes the deposits of one player one after another, so that no two of them read the same day's sum.
 */
export async function lockDepositor(connection: Sql, playerId: string): Promise<void> {
  const lock = sql`select from depositor where player_id = ${playerId} for update`
  if ((await lock.execute(connection)).rows.length > 0) return
  // Two first deposits at once: the second waits here until the first has committed, and then at the lock.
  await sql`insert into depositor (player_id) values (${playerId}) on conflict do nothing`.execute(connection)
  await lock.execute(connection)
}

/** What a player deposited on the brand's calendar day of `now`, pending and confirmed, in minor units. */
export async function sumDeposits(
  connection: Sql,
  { playerId, timeZone, now }: { readonly playerId: string; readonly timeZone: string; readonly now: Date },
): Promise<bigint> {
  const { rows } = await sql<{ total: string }>`
    with day as (select date_trunc('day', ${now}::timestamptz at time zone ${timeZone}) as starts)
    select coalesce(sum(d.amount), 0)::text as total
    from day, deposit d
    where d.player_id = ${playerId} and d.status <> 'failed'
      and d.created_at >= day.starts at time zone ${timeZone}
      and d.created_at < (day.starts + interval '1 day') at time zone ${timeZone}
  `.execute(connection)
  return BigInt(rows[0]?.total ?? '0')
}

/** The id of the deposit that has a reference already. */
export async function findReference(
  connection: Sql,
  { brandId, externalReference }: { readonly brandId: string; readonly externalReference: string },
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select id from deposit where brand_id = ${brandId} and external_reference = ${externalReference}
  `.execute(connection)
  return rows[0]?.id ?? null
}

/** @returns false when another deposit of the brand took the reference; waits for one that is just about to. */
export async function insertDeposit(connection: Sql, deposit: DepositRecord): Promise<boolean> {
  const { rows } = await sql`
    insert into deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference, amount,
      currency, method, status, version, created_at)
    values (${deposit.id}, ${deposit.brandId}, ${deposit.operatorId}, ${deposit.environment}, ${deposit.timeZone},
      ${deposit.playerId}, ${deposit.externalReference}, ${deposit.amount.toString()}::bigint,
      ${deposit.currency}, ${deposit.method}, ${deposit.status}, ${deposit.version}, ${deposit.createdAt}::timestamptz)
    on conflict (brand_id, external_reference) do nothing
    returning true
  `.execute(connection)
  return rows.length > 0
}

/** Reads a deposit of a brand and locks its row until the transaction ends. */
export async function lockDeposit(
  em: EntityManager,
  key: { readonly id: string; readonly brandId: string },
): Promise<DepositRecord | null> {
  const row = await em.findOne(DepositEntity, key, { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true })
  return row === null ? null : toRecord(row)
}

export async function findDeposit(
  em: EntityManager,
  key: { readonly id: string; readonly brandId?: string },
): Promise<DepositRecord | null> {
  const row = await em.findOne(DepositEntity, key, { disableIdentityMap: true })
  return row === null ? null : toRecord(row)
}

/** Writes what settling a deposit changed. */
export async function saveDeposit(em: EntityManager, deposit: Deposit): Promise<void> {
  const { id, status, version, confirmedAt, failedAt, failureReason } = deposit
  await em.nativeUpdate(DepositEntity, { id }, { status, version, confirmedAt, failedAt, failureReason })
}

/** Newest first. */
export async function listDeposits(
  em: EntityManager,
  filter: {
    readonly brandId: string
    readonly playerId?: string | undefined
    readonly status?: DepositStatus | undefined
    readonly externalReference?: string | undefined
    readonly before?: string | undefined
    readonly limit: number
  },
): Promise<DepositRecord[]> {
  const { brandId, playerId, status, externalReference, before, limit } = filter
  const where = {
    brandId,
    ...(playerId === undefined ? {} : { playerId }),
    ...(status === undefined ? {} : { status }),
    ...(externalReference === undefined ? {} : { externalReference }),
    ...(before === undefined ? {} : { id: { $lt: before } }),
  }
  const rows = await em.find(DepositEntity, where, { orderBy: { id: 'desc' }, limit, disableIdentityMap: true })
  return rows.map(toRecord)
}

function toRecord(row: DepositRow): DepositRecord {
  return {
    ...row,
    failureReason: row.failureReason ?? null,
    confirmedAt: row.confirmedAt ?? null,
    failedAt: row.failedAt ?? null,
  }
}
