import type { Clock } from '../process/clock.ts'
import type { Logger } from '../process/log.ts'
import { Loop } from '../process/loop.ts'
import type { Db } from './db.ts'
import { type Fragment, identifier, sql } from './statement.ts'

/** How long the rows of a table are kept, counted from one of its time columns. A row with a null there is kept. */
export interface Retention {
  readonly table: string
  readonly column: string
  readonly keepMs: number
  /** Which rows are of the sandbox. They are kept for SANDBOX_KEEP_HOURS, if that is less. */
  readonly ofSandbox?: Fragment
}

export const dayMs = 24 * 3_600_000
/** How long a row of an outbox is kept after it was done. */
export const outboxKeepMs = 14 * dayMs

/**
 * What the runtime itself keeps. Replies, messages and messages that were set aside are copies with data of persons, so
 * each is kept as short as it can be of use (docs/privacy.md). A claim of an Idempotency-Key is deleted two days after its
 * first use, and until then its operation may be asked for. The outbox fills a stream that was lost. The inbox outlives
 * the outbox, whose rows may be published again.
 */
export const runtimeRetentions: readonly Retention[] = [
  { table: 'operation', column: 'created_at', keepMs: 3 * dayMs, ofSandbox: sql`environment = 'sandbox'` },
  { table: 'outbox', column: 'done_at', keepMs: outboxKeepMs, ofSandbox: sql`environment = 'sandbox'` },
  { table: 'inbox', column: 'received_at', keepMs: 28 * dayMs },
  { table: 'set_aside_message', column: 'set_aside_at', keepMs: 30 * dayMs },
]

const batchMax = 1_000
/** Rows of the sandbox are looked for among those that became due lately. Older ones go with all others. */
const sandboxWindowMs = dayMs

/**
 * Deletes what is past its retention, in bounded batches, each in a transaction of its own. It must be past it by two
 * clocks, the process's and PostgreSQL's: what a clock that runs ahead deletes is gone for good.
 * @param sandboxKeepMs given: only the rows of the sandbox, which are kept so long
 * @returns how many rows were deleted
 */
export async function purge(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  { table, column, keepMs, ofSandbox }: Retention,
  sandboxKeepMs?: number,
): Promise<number> {
  const now = clock.now()
  const onlySandbox = sandboxKeepMs !== undefined && ofSandbox !== undefined
  const keepSeconds = (onlySandbox ? sandboxKeepMs : keepMs) / 1_000
  const due = sql`least(${now}::timestamptz, now()) - make_interval(secs => ${keepSeconds})`
  const chosen = !onlySandbox
    ? sql``
    : sql`and ${identifier(column)} >= ${due} - make_interval(secs => ${sandboxWindowMs / 1_000}) and ${ofSandbox}`
  let deleted = 0
  for (;;) {
    const rows = await db`
      delete from ${identifier(table)} where ctid in (
        select ctid from ${identifier(table)} where ${identifier(column)} < ${due} ${chosen}
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
  sandboxKeepMs: number,
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
          const isShorter = retention.ofSandbox !== undefined && sandboxKeepMs < retention.keepMs
          const ofSandbox = isShorter ? await purge(context, retention, sandboxKeepMs) : 0
          const deleted = ofSandbox + (await purge(context, retention))
          if (deleted > 0) log.info({ table: retention.table, deleted }, 'purged')
        } catch (error) {
          log.warn({ table: retention.table, err: error }, 'could not purge')
        }
      }
    },
  })
}
