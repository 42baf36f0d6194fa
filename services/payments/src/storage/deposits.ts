import type { DepositStatus, Scope } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { type EntityManager, LockMode } from '@mikro-orm/postgresql'
import { type RawBuilder, sql } from 'kysely'
import type { Deposit } from '../domain/deposit.ts'
import type { StatusTransition } from '../domain/transition.ts'
import { DepositEntity, type DepositRow } from './entities.ts'
import { recordTransition } from './transitions.ts'

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
export async function sumDeposits(connection: Sql, day: DayOfPlayer): Promise<bigint> {
  const { rows } = await sql<{ total: string }>`select (${totalOf(day)}) as total`.execute(connection)
  return BigInt(rows[0]?.total ?? '0')
}

/** What decides whether a deposit may begin: the day's sum, and the deposit that has its reference already. */
export async function readBeforeDeposit(
  connection: Sql,
  {
    brandId,
    externalReference,
    ...day
  }: DayOfPlayer & { readonly brandId: string; readonly externalReference: string },
): Promise<{ readonly dayTotal: bigint; readonly taken: string | null }> {
  const { rows } = await sql<{ total: string; taken: string | null }>`
    select (${totalOf(day)}) as total,
      (select id from deposit where brand_id = ${brandId} and external_reference = ${externalReference}) as taken
  `.execute(connection)
  return { dayTotal: BigInt(rows[0]?.total ?? '0'), taken: rows[0]?.taken ?? null }
}

interface DayOfPlayer {
  readonly playerId: string
  readonly timeZone: string
  readonly now: Date
}

/** The day begins and ends where the brand is, with its changes of summer time. */
function totalOf({ playerId, timeZone, now }: DayOfPlayer): RawBuilder<unknown> {
  const midnight = sql`date_trunc('day', ${now}::timestamptz at time zone ${timeZone})`
  return sql`
    select coalesce(sum(amount), 0)::text from deposit
    where player_id = ${playerId} and status <> 'failed'
      and created_at >= ${midnight} at time zone ${timeZone}
      and created_at < (${midnight} + interval '1 day') at time zone ${timeZone}
  `
}

/** @returns false when another deposit of the brand has the reference; waits for one that is just about to. */
export async function insertDeposit(
  connection: Sql,
  {
    deposit,
    ...history
  }: { readonly deposit: DepositRecord; readonly transition: StatusTransition; readonly operationId: string },
): Promise<boolean> {
  const { rows } = await sql`
    with written as (
      insert into deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference, amount,
        currency, method, status, version, created_at)
      values (${deposit.id}, ${deposit.brandId}, ${deposit.operatorId}, ${deposit.environment}, ${deposit.timeZone},
        ${deposit.playerId}, ${deposit.externalReference}, ${deposit.amount.toString()}::bigint,
        ${deposit.currency}, ${deposit.method}, ${deposit.status}, ${deposit.version}, ${deposit.createdAt}::timestamptz)
      on conflict (brand_id, external_reference) do nothing
      returning id
    ) ${recordTransition(history)}
  `.execute(connection)
  return rows.length > 0
}

/** The id of the deposit that has a reference. */
export async function findReference(
  connection: Sql,
  { brandId, externalReference }: { readonly brandId: string; readonly externalReference: string },
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select id from deposit where brand_id = ${brandId} and external_reference = ${externalReference}
  `.execute(connection)
  return rows[0]?.id ?? null
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
export async function saveDeposit(
  connection: Sql,
  {
    deposit,
    ...history
  }: { readonly deposit: Deposit; readonly transition: StatusTransition; readonly operationId: string },
): Promise<void> {
  const { id, status, version, confirmedAt, failedAt, failureReason } = deposit
  await sql`
    with written as (
      update deposit set status = ${status}, version = ${version}, confirmed_at = ${confirmedAt}::timestamptz,
        failed_at = ${failedAt}::timestamptz, failure_reason = ${failureReason}
      where id = ${id} returning id
    ) ${recordTransition(history)}
  `.execute(connection)
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
