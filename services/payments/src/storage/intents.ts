import type { Scope } from '@backoffice/contracts'
import type { Db, ReadDb } from '@backoffice/service-runtime'
import type { Withdrawal, WithdrawalState } from '../domain/withdrawal.ts'

/** One attempt at a withdrawal: its id is the reference of the hold that the wallet is asked for. */
export interface Attempt {
  readonly id: string
  readonly status: WithdrawalState
  /** The wallet has not yet given back what this attempt may have reserved. */
  readonly releasing: boolean
}

export type WithdrawalRequest = Pick<Withdrawal, 'playerId' | 'amount' | 'currency' | 'method' | 'destination'>

/** All attempts of one operation, the latest first. */
export function listAttempts(db: ReadDb, operationId: string): Promise<Attempt[]> {
  return db<Attempt>`
    select w.id, w.status, exists (
      select from outbox o where o.aggregate = w.id and o.kind = 'command' and o.done_at is null
    ) as releasing
    from withdrawal w where w.operation_id = ${operationId} order by w.id desc
  `
}

/**
 * Commits an intent under a new id, unless an earlier attempt of the operation is there.
 * @param afterAbandoned abandoned attempts do not count
 * @returns false when it was not begun: another attempt is to be gone on with, or to be looked at
 */
export async function insertIntent(
  db: Db,
  intent: WithdrawalRequest & {
    readonly id: string
    readonly operationId: string
    readonly scope: Scope
    readonly now: Date
    readonly afterAbandoned: boolean
  },
): Promise<boolean> {
  const { scope, now, operationId } = intent
  const rows = await db`
    insert into withdrawal (id, operation_id, brand_id, operator_id, environment, time_zone, player_id, amount, currency,
      method, destination, status, version, created_at, updated_at)
    select ${intent.id}, ${operationId}, ${scope.brandId}, ${scope.operatorId}, ${scope.environment},
      ${scope.timeZone}, ${intent.playerId}, ${intent.amount}::bigint, ${intent.currency},
      ${intent.method}, ${intent.destination}, 'intent', 0, ${now}::timestamptz, ${now}::timestamptz
    where ${intent.afterAbandoned}::boolean or not exists (select from withdrawal where operation_id = ${operationId})
    on conflict (operation_id) where status <> 'abandoned' do nothing
    returning true
  `
  return rows.length > 0
}

/** Compare-and-set: the wallet refused, so there is no hold to release. */
export async function refuseIntent(db: Db, { id, now }: { readonly id: string; readonly now: Date }): Promise<void> {
  await db`
    update withdrawal set status = 'refused', dropped_at = ${now}::timestamptz where id = ${id} and status = 'intent'
  `
}

export interface AbandonedIntent extends Scope {
  readonly id: string
  readonly playerId: string
}

/** Compare-and-set: intents begun before `before` are given up. Their rows stay locked until the transaction ends. */
export function abandonIntents(
  db: Db,
  { before, now, limit }: { readonly before: Date; readonly now: Date; readonly limit: number },
): Promise<AbandonedIntent[]> {
  return db<AbandonedIntent>`
    update withdrawal set status = 'abandoned', dropped_at = ${now}::timestamptz
    where id = any(array(
      select id from withdrawal where status = 'intent' and created_at < ${before}::timestamptz
      order by created_at limit ${limit} for update skip locked
    ))
    returning id, player_id, operator_id, brand_id, environment, currency, time_zone
  `
}
