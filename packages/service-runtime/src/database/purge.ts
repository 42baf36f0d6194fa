import type { Clock } from '../process/clock.ts'
import type { Logger } from '../process/log.ts'
import { Loop } from '../process/loop.ts'
import type { Db } from './db.ts'
import { identifier } from './statement.ts'

/** How long the rows of a table are kept, counted from one of its time columns. A row with a null there is kept. */
export interface Retention {
  readonly table: string
  readonly column: string
  readonly keepMs: number
}

export const dayMs = 24 * 3_600_000
/** How long a row of an outbox is kept after it was done. */
export const outboxKeepMs = 14 * dayMs

/**
 * What the runtime itself keeps. Each is longer than any retry: an Idempotency-Key lives a day, and a webhook is retried
 * for about a day. The inbox outlives the outbox, whose rows may be published again.
 */
export const runtimeRetentions: readonly Retention[] = [
  { table: 'operation', column: 'created_at', keepMs: 7 * dayMs },
  { table: 'outbox', column: 'done_at', keepMs: outboxKeepMs },
  { table: 'inbox', column: 'received_at', keepMs: 28 * dayMs },
  { table: 'set_aside_message', column: 'set_aside_at', keepMs: 90 * dayMs },
]

const batchMax = 1_000

/**
 * Deletes what is past its retention, in bounded batches, each in a transaction of its own. It must be past it by two
 * clocks, the process's and PostgreSQL's: what a clock that runs ahead deletes is gone for good.
 * @returns how many rows were deleted
 */
export async function purge(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  { table, column, keepMs }: Retention,
): Promise<number> {
  const now = clock.now()
  let deleted = 0
  for (;;) {
    const rows = await db`
      delete from ${identifier(table)} where ctid in (
        select ctid from ${identifier(table)}
        where ${identifier(column)} < least(${now}::timestamptz, now()) - make_interval(secs => ${keepMs / 1_000})
        limit ${batchMax} for update skip locked
      ) returning true
    `
    deleted += rows.length
    if (rows.length < batchMax) return deleted
  }
}

const purgeEveryMs = 3_600_000
const firstPurgeAfterMs = 60_000

/** Purges a minute after the start, then every hour. A table that cannot be purged waits for the next hour. */
export function purging(
  context: { readonly db: Db; readonly clock: Clock; readonly log: Logger },
  retentions: readonly Retention[],
): Loop {
  const { log } = context
  return new Loop({
    name: 'purging',
    log,
    everyMs: purgeEveryMs,
    firstAfterMs: firstPurgeAfterMs,
    async run() {
      for (const retention of retentions) {
        try {
          const deleted = await purge(context, retention)
          if (deleted > 0) log.info({ table: retention.table, deleted }, 'purged')
        } catch (error) {
          log.warn({ table: retention.table, err: error }, 'could not purge')
        }
      }
    },
  })
}
