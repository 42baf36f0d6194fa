import { type Logger, Loop } from '@backoffice/process'
import type { Database } from './db.ts'

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
