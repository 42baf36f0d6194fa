import type { MikroORM } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { Clock } from './clock.ts'
import { sqlOf } from './commands/unit-of-work.ts'
import type { Logger } from './log.ts'

/** How long rows of one table are kept, by one of its time columns. A null there keeps the row. */
export interface Retention {
  readonly table: string
  readonly column: string
  readonly keepMs: number
}

const dayMs = 24 * 3_600_000

/**
 * What the runtime itself keeps. Each is longer than any retry: an Idempotency-Key lives a day, and a webhook is retried
 * for about a day. The inbox outlives the outbox, whose rows may be published again.
 */
export const runtimeRetentions: readonly Retention[] = [
  { table: 'operation', column: 'created_at', keepMs: 7 * dayMs },
  { table: 'outbox', column: 'done_at', keepMs: 14 * dayMs },
  { table: 'inbox', column: 'received_at', keepMs: 28 * dayMs },
  { table: 'set_aside_message', column: 'set_aside_at', keepMs: 90 * dayMs },
]

const batchMax = 1_000

/** Deletes what is past its retention, in bounded batches, each a transaction of its own. Answers how many rows went. */
export async function purge(
  parts: { readonly orm: MikroORM; readonly clock: Clock },
  retention: Retention,
): Promise<number> {
  const before = new Date(parts.clock.now().getTime() - retention.keepMs)
  let deleted = 0
  for (;;) {
    const { rows } = await sql`
      delete from ${sql.table(retention.table)} where ctid in (
        select ctid from ${sql.table(retention.table)}
        where ${sql.ref(retention.column)} < ${before}::timestamptz limit ${batchMax} for update skip locked
      ) returning true
    `.execute(sqlOf(parts.orm.em.fork()))
    deleted += rows.length
    if (rows.length < batchMax) return deleted
  }
}

const purgeEveryMs = 3_600_000
const firstPurgeAfterMs = 60_000

/** Purges a minute after the start, then every hour until stopped. A failure waits for the next hour. */
export function startPurging(
  parts: { readonly orm: MikroORM; readonly clock: Clock; readonly log: Logger },
  retentions: readonly Retention[],
): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve()
  const run = async () => {
    for (const retention of retentions) {
      try {
        const deleted = await purge(parts, retention)
        if (deleted > 0) parts.log.info({ table: retention.table, deleted }, 'purged')
      } catch (error) {
        parts.log.warn({ table: retention.table, err: error }, 'could not purge')
      }
    }
  }
  const purgeNow = () => {
    running = running.then(run)
  }
  const first = setTimeout(purgeNow, firstPurgeAfterMs).unref()
  const timer = setInterval(purgeNow, purgeEveryMs).unref()
  return {
    async stop() {
      clearTimeout(first)
      clearInterval(timer)
      await running
    },
  }
}
