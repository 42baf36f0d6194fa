import type { Scope } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'
import type { WithdrawalState } from '../domain/withdrawal.ts'

/** One attempt at a withdrawal: its id is the reference of the hold that the wallet is asked for. */
export interface Intent {
  readonly id: string
  readonly status: WithdrawalState
  /** The wallet has not yet given back what this attempt may have reserved. */
  readonly releasing: boolean
}

export interface WithdrawalRequest {
  readonly playerId: string
  readonly amount: bigint
  readonly currency: string
  readonly method: string
  readonly destination: string
}

/** All attempts of one operation, the latest first. */
export async function listAttempts(connection: Sql, operationId: string): Promise<Intent[]> {
  const { rows } = await sql<Intent>`
    select w.id, w.status, exists (
      select from outbox o where o.aggregate = w.id and o.kind = 'command' and o.done_at is null
    ) as releasing
    from withdrawal w where w.operation_id = ${operationId} order by w.id desc
  `.execute(connection)
  return rows
}

/** Commits an intent under a new id; another attempt of the same operation that was quicker is left to stand. */
export async function insertIntent(
  connection: Sql,
  intent: WithdrawalRequest & {
    readonly id: string
    readonly operationId: string
    readonly scope: Scope
    readonly now: Date
  },
): Promise<void> {
  const { scope, now } = intent
  await sql`
    insert into withdrawal (id, operation_id, brand_id, operator_id, environment, time_zone, player_id, amount, currency,
      method, destination, status, version, created_at, updated_at)
    values (${intent.id}, ${intent.operationId}, ${scope.brandId}, ${scope.operatorId}, ${scope.environment},
      ${scope.timeZone}, ${intent.playerId}, ${intent.amount.toString()}::bigint, ${intent.currency},
      ${intent.method}, ${intent.destination}, 'intent', 0, ${now}::timestamptz, ${now}::timestamptz)
    on conflict (operation_id) where status <> 'abandoned' do nothing
  `.execute(connection)
}

/** Compare-and-set: the intent becomes a withdrawal. @returns false when it is no intent any more */
export async function openIntent(
  connection: Sql,
  { id, now }: { readonly id: string; readonly now: Date },
): Promise<boolean> {
  const { rows } = await sql`
    update withdrawal set status = 'under_review', version = 1, created_at = ${now}::timestamptz, updated_at = ${now}::timestamptz
    where id = ${id} and status = 'intent' returning true
  `.execute(connection)
  return rows.length > 0
}

/** Compare-and-set: the wallet refused, so there is no hold to release. */
export async function refuseIntent(
  connection: Sql,
  { id, now }: { readonly id: string; readonly now: Date },
): Promise<void> {
  await sql`
    update withdrawal set status = 'refused', dropped_at = ${now}::timestamptz where id = ${id} and status = 'intent'
  `.execute(connection)
}

export interface AbandonedIntent {
  readonly id: string
  readonly playerId: string
  readonly scope: Scope
}

/** Compare-and-set: intents begun before `before` are given up. Their rows stay locked until the transaction ends. */
export async function abandonIntents(
  connection: Sql,
  { before, now, limit }: { readonly before: Date; readonly now: Date; readonly limit: number },
): Promise<AbandonedIntent[]> {
  const { rows } = await sql<Scope & { id: string; playerId: string }>`
    update withdrawal set status = 'abandoned', dropped_at = ${now}::timestamptz
    where id = any(array(
      select id from withdrawal where status = 'intent' and created_at < ${before}::timestamptz
      order by created_at limit ${limit} for update skip locked
    ))
    returning id, player_id as "playerId", operator_id as "operatorId", brand_id as "brandId", environment, currency,
      time_zone as "timeZone"
  `.execute(connection)
  return rows.map(({ id, playerId, ...scope }) => ({ id, playerId, scope }))
}
