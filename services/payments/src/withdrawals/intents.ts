// Records.

import type { IdOf, KeyClaim, Scope } from '@backoffice/contracts'
import { type Measurement, measurement } from '@backoffice/process'
import { type Db, type Fragment, isKnownOperation, outbox, type ReadDb, sql } from '@backoffice/service-runtime'
import { digestsOf, storedDestination } from './destination.ts'
import type { StoredWithdrawal, WithdrawalState } from './withdrawal.ts'

/** One attempt at a withdrawal. Its id is the reference of the hold. */
export interface WithdrawalAttempt {
  readonly id: string
  readonly status: WithdrawalState
  /** The wallet has not yet given back what this attempt may have reserved. */
  readonly releasing: boolean
  /** Of the same operation, or of the same request under the key: another one has no right to it. */
  readonly isSame: boolean
}

/** The request that an intent is made from. */
export type Intent = Pick<StoredWithdrawal, 'id' | 'playerId' | 'amount' | 'currency' | 'method' | 'destination'> & {
  readonly operationId: string
  readonly scope: Scope
  readonly key?: KeyClaim | undefined
}

/** What the key stands for in another operation, which the gateway has forgotten. */
const ofKey = (brandId: Fragment, digest: Fragment, operationId: Fragment) => sql`
  w.brand_id = ${brandId} and w.key_digest = ${digest} and w.key_until > clock_timestamp()
    and w.operation_id <> ${operationId} and w.status <> 'abandoned'
`

/** All attempts of the operation, and one of another operation under its key, the latest first. */
export function listAttempts(db: ReadDb, intent: Intent): Promise<WithdrawalAttempt[]> {
  const { operationId, scope, key, playerId, amount, currency } = intent
  return db<WithdrawalAttempt>`
    select w.id, w.status, ${outbox.isUnfinished(sql`w.id`)} as releasing,
      coalesce(w.operation_id = ${operationId} or (w.player_id = ${playerId} and w.amount = ${amount}
        and w.currency = ${currency} and w.method = ${intent.method}
        and w.destination_digest = any(${digestsOf(db.vault, intent)}::text[])), true) as is_same
    from withdrawal w where w.id in (
      select id from withdrawal where operation_id = ${operationId}
      union all select w.id from withdrawal w where ${ofKey(sql`${scope.brandId}`, sql`${key?.digest ?? null}`, sql`${operationId}`)}
    ) order by w.id desc
  `
}

const intentColumns = `
  id text, operation_id text, operator_id text, brand_id text, environment text, time_zone text, player_id text,
  amount bigint, currency text, method text, destination text, sealed_destination text, destination_digest text,
  key_digest text, key_until timestamptz, status text, version int
`

/**
 * Inserts intents. They begin by PostgreSQL's clock, which says for all replicas when they are old. An intent is left out
 * if an earlier attempt of its operation exists, or if the operation has its reply: an operation that was refused, or given up for good, must reserve nothing when it is sent again.
 * @returns the ids of the intents that were inserted
 */
export async function insertIntents(
  db: Db,
  begun: readonly {
    readonly intent: Intent
    /** Abandoned attempts do not count. */
    readonly afterAbandoned: boolean
  }[],
): Promise<ReadonlySet<string>> {
  const intents = begun.map(({ intent: { scope, key, ...intent }, afterAbandoned }) => ({
    ...{ ...scope, ...intent, afterAbandoned, keyDigest: key?.digest ?? null, keyUntil: key?.until ?? null },
    ...storedDestination(db.vault, intent.id, intent),
    ...{ status: 'intent', version: 0 },
  }))
  const rows = await db<{ id: string }>`
    insert into withdrawal (${sql.columns(intentColumns)}, created_at, updated_at)
    select ${sql.columns(intentColumns)}, clock_timestamp(), clock_timestamp()
    from ${sql.unnest('i', intents, `${intentColumns}, after_abandoned bool`)}
    where (i.after_abandoned or not exists (select from withdrawal w where w.operation_id = i.operation_id))
      and not exists (select from withdrawal w where ${ofKey(sql`i.brand_id`, sql`i.key_digest`, sql`i.operation_id`)})
      and not ${isKnownOperation(sql`i.operation_id`)}
    order by i.operation_id
    on conflict (operation_id) where status <> 'abandoned' do nothing
    returning id
  `
  return new Set(rows.map(({ id }) => id))
}

/** Marks an intent as refused, if it still is an intent. The wallet refused, so there is no hold to release. */
export async function refuseIntent(db: Db, id: string): Promise<void> {
  // Written so that PostgreSQL looks for the id, and not among all intents, however few it thinks there are.
  await db`
    update withdrawal set status = 'refused', dropped_at = now()
    where id = ${id} and status is not distinct from 'intent'
  `
}

export interface AbandonedIntent extends Scope {
  readonly id: string
  readonly playerId: IdOf<'player'>
}

/**
 * Abandons intents that are older than `afterMs`. Their rows stay locked until the transaction ends. An intent of the
 * future is from before PostgreSQL's clock was set back. It counts as old, or it would hold money for as long as that
 * step.
 */
export function abandonIntents(
  db: Db,
  { afterMs, now, limit }: { readonly afterMs: number; readonly now: Date; readonly limit: number },
): Promise<AbandonedIntent[]> {
  // Two ranges of the index on time. With clock_timestamp(), which differs from row to row, all intents would be read.
  return db<AbandonedIntent>`
    update withdrawal set status = 'abandoned', dropped_at = ${now}::timestamptz
    where id = any(
      array(
        select id from withdrawal
        where status = 'intent' and created_at < statement_timestamp() - make_interval(secs => ${afterMs / 1_000})
        order by created_at limit ${limit} for update skip locked
      ) || array(
        select id from withdrawal where status = 'intent' and created_at > statement_timestamp() + interval '1 second'
        order by created_at limit ${limit} for update skip locked
      )
    )
    returning id, player_id, operator_id, brand_id, environment, currency, time_zone
  `
}

/**
 * How long the oldest money operation of each environment has been under way: an intent, or a command that the wallet has
 * not done.
 */
export function oldestUnfinished(db: ReadDb): Measurement {
  return measurement({
    gauges: {
      'backoffice.money_operations.oldest_unfinished_seconds': {
        description: 'Age of the oldest money operation that is not finished: an intent, or a command for the wallet',
        unit: 's',
      },
    },
    async read() {
      const rows = await db<{ environment: string; oldest: number }>`
        -- What is of the future was written by other means, and is as old as it is far away.
        select environment, coalesce((
          select max(abs(extract(epoch from clock_timestamp()) - extract(epoch from waiting.created_at))) from (
            select created_at from withdrawal w where status = 'intent' and w.environment = e.environment
            union all
            select created_at from ${outbox.unfinishedCommands} c where c.environment = e.environment
          ) waiting
        ), 0)::double precision as oldest
        from unnest(array['production', 'sandbox']) as e (environment)
      `
      const ages = rows.map(({ environment, oldest }) => ({ value: oldest, attributes: { environment } }))
      return { 'backoffice.money_operations.oldest_unfinished_seconds': ages }
    },
  })
}
