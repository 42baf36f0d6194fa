import { type Database, type Db, type Fragment, sql } from '@backoffice/database'
import { type Clock, dayMs, hourMs, type Logger, Loop } from '@backoffice/process'

/** How long the rows of a table are kept, counted from one of its time columns. A row with a null there is kept. */
export interface Retention {
  readonly table: string
  readonly column: string
  /** Where no setting says otherwise. */
  readonly keepMs: number
  /** The setting that says how long, with its unit as its last word: `_HOURS` or `_DAYS`. */
  readonly setting?: string
  /** Which rows are meant, if not all. */
  readonly only?: Fragment
  /** Which rows are of the sandbox. They are kept for SANDBOX_KEEP_HOURS, if that is less. */
  readonly ofSandbox?: Fragment
  /**
   * The function of the schema that makes the table's partitions ahead, and drops those that are past the retention. The
   * partition `<table>_other` takes what none was made for; rows are deleted from it, and from others those of the sandbox.
   */
  readonly partitionsBy?: string
  /** The function of the schema that says before when rows may go, by the two clocks and by who still needs them. */
  readonly dueBy?: string
}

/**
 * What the runtime itself keeps. Replies, messages and messages that were set aside are copies with data of persons, so
 * each is kept as short as it can be of use (docs/privacy.md). A claim of an Idempotency-Key is deleted two days after its
 * first use, and until then its operation may be asked for. Published events fill a stream that was lost. The inbox outlives
 * the stream and what fills it.
 */
export const runtimeRetentions: readonly Retention[] = [
  {
    table: 'operation',
    column: 'created_at',
    keepMs: 3 * dayMs,
    setting: 'REPLIES_KEEP_HOURS',
    ofSandbox: sql`environment = 'sandbox'`,
  },
  {
    table: 'published_event',
    column: 'published_at',
    keepMs: 3 * dayMs,
    setting: 'EVENTS_KEEP_HOURS',
    ofSandbox: sql`message #>> '{event,environment}' = 'sandbox'`,
    partitionsBy: 'tend_published_events',
    dueBy: 'published_events_due',
  },
  { table: 'inbox', column: 'received_at', keepMs: 18 * dayMs, setting: 'INBOX_KEEP_DAYS' },
  { table: 'set_aside_message', column: 'set_aside_at', keepMs: 30 * dayMs, setting: 'SET_ASIDE_KEEP_DAYS' },
]

/** A retention with the times that settings give. */
export function retentionFor(retention: Retention, settings: Readonly<Record<string, unknown>>): Retention {
  const { setting } = retention
  const value = setting === undefined ? undefined : settings[setting]
  return typeof value === 'number'
    ? { ...retention, keepMs: value * (setting?.endsWith('_DAYS') ? dayMs : hourMs) }
    : retention
}

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
  { table, column, keepMs, only, ofSandbox, partitionsBy, dueBy }: Retention,
  sandboxKeepMs?: number,
): Promise<number> {
  const now = clock.now()
  const onlySandbox = sandboxKeepMs !== undefined && ofSandbox !== undefined
  const keepSeconds = (onlySandbox ? sandboxKeepMs : keepMs) / 1_000
  const due =
    dueBy === undefined
      ? sql`least(${now}::timestamptz, now()) - make_interval(secs => ${keepSeconds})`
      : sql`${sql.identifier(dueBy)}(${now}::timestamptz, ${keepSeconds})`
  const meant = only === undefined ? sql`` : sql`and ${only}`
  const chosen = !onlySandbox
    ? meant
    : sql`${meant} and ${sql.identifier(column)} >= ${due} - make_interval(secs => ${sandboxWindowMs / 1_000}) and ${ofSandbox}`
  if (partitionsBy !== undefined && !onlySandbox)
    await db`select ${sql.identifier(partitionsBy)}(${now}::timestamptz, ${keepSeconds}) as dropped`
  const parts = partitionsBy === undefined ? [table] : onlySandbox ? await partitionsOf(db, table) : [`${table}_other`]
  let deleted = 0
  for (const part of parts) {
    let found: number
    do {
      const rows = await db`
        delete from ${sql.identifier(part)} where ctid in (
          select ctid from ${sql.identifier(part)} where ${sql.identifier(column)} < ${due} ${chosen}
          limit ${batchMax} for update skip locked
        ) returning true
      `
      found = rows.length
      deleted += found
    } while (found >= batchMax)
  }
  return deleted
}

async function partitionsOf(db: Db, table: string): Promise<string[]> {
  const rows = await db<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = ${table}::regclass
  `
  return rows.map(({ name }) => name)
}

const purgeEveryMs = 3_600_000
const firstPurgeAfterMs = 60_000

/** Purges a minute after the start, then every hour. A table that cannot be purged waits for the next hour. */
export function purging(
  context: { readonly db: Db; readonly clock: Clock; readonly log: Logger },
  defaults: readonly Retention[],
  settings: Readonly<Record<string, unknown>> & { readonly SANDBOX_KEEP_HOURS: number },
): Loop {
  const { log } = context
  const sandboxKeepMs = settings.SANDBOX_KEEP_HOURS * hourMs
  const retentions = defaults.map((retention) => retentionFor(retention, settings))
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
          if (deleted > 0)
            log.info({ table: retention.table, deleted }, `purged ${deleted} expired rows of ${retention.table}`)
        } catch (error) {
          log.warn({ table: retention.table, err: error }, `expired rows of ${retention.table} could not be purged`)
        }
      }
    },
  })
}

const everyMs = 5_000
/** Of a table that was restored, a sample of a large table is read. */
const timeoutMs = 600_000

/**
 * Has PostgreSQL look at what is in young tables, so that it plans for that. Statements are planned once and kept: those
 * that were planned for a table that was empty, or held a few rows, cost more with every row until somebody analyses it.
 * PostgreSQL looks by itself after a minute or two. A table that was restored has no statistics either.
 * @returns the tables that were analysed, each in a transaction of its own
 */
export async function analyzeYoungTables({ transaction }: Pick<Database, 'transaction'>): Promise<readonly string[]> {
  const analyzed = new Set<string>()
  for (;;) {
    const name = await transaction(async (db) => {
      await db`select set_config('statement_timeout', ${String(timeoutMs)}, true)`
      const [row] = await db<{ name: string | null }>`select analyze_young_table() as name`
      return row?.name ?? null
    })
    // None again in one run, whatever has kept it young.
    if (name === null || analyzed.has(name)) return [...analyzed]
    analyzed.add(name)
  }
}

/** Looks for young tables every few seconds, which costs a look at the catalogue where there are none. */
export const analyzing = (context: { readonly db: Database; readonly log: Logger }): Loop =>
  new Loop({
    name: 'analysing young tables',
    log: context.log,
    everyMs,
    firstAfterMs: everyMs,
    async run() {
      await analyzeYoungTables(context.db)
    },
  })
