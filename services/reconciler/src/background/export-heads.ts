import { Loop } from '@backoffice/process'
import { type Background, DatabaseHistory, type ServiceContext } from '@backoffice/service-runtime'
import { lastExportAt, listHeadsSince, writeHeads } from '../heads/exports.ts'
import type { HeadStore } from '../heads/store.ts'

const pageMax = 10_000
/** Longer than a transaction can last, so that what was being written during one export is in the next. */
const overlapMs = 60_000
const lookEveryMsMax = 10_000

/**
 * Writes the heads of the chains that have moved since the last export to a place outside the database, and once a day
 * those of all accounts. Somebody who cuts off the end of a chain in the database cannot change them there. An export is
 * written when no head has moved, too: that it is there says that exports work.
 * @param at what the export is called by: no second one of the same moment is written
 * @returns how many heads have moved; null when there is such an export, or one is being written
 */
export async function exportHeads(
  { db }: Pick<ServiceContext, 'db'>,
  store: HeadStore,
  at: Date,
): Promise<number | null> {
  const last = await lastExportAt(store, { now: at })
  if (last !== null && last >= at) return null
  // What a database has that was restored says nothing of what the one before had: its exports begin with a snapshot.
  const databaseHistory = new DatabaseHistory(db.reader)
  const history = await databaseHistory.name()
  const end = async () => {
    if (await databaseHistory.hasChanged()) throw new Error('the database has changed while its heads were read')
    const now = await timeOf(db)
    return { readUntil: now > at ? now : at, history }
  }
  const snapshot = await lastExportAt(store, { now: at, kind: 'snapshot', history })
  // Before the delta: the first one ever need not have what a snapshot has.
  if (snapshot === null || dayOf(snapshot) < dayOf(at)) {
    const all = await writeHeads(store, { kind: 'snapshot', at, end }, pagesSince(db, new Date(0)))
    if (all === null) return null
  }
  const kept = (await lastExportAt(store, { now: at, history })) ?? at
  const since = new Date(kept.getTime() - overlapMs)
  return writeHeads(store, { kind: 'delta', at, end }, pagesSince(db, since))
}

/** PostgreSQL's clock, by which it stamps what moves: replicas whose clocks differ agree on what has moved. */
async function timeOf({ reader }: ServiceContext['db']): Promise<Date> {
  const [row] = await reader<{ now: Date }>`select clock_timestamp() as now`
  if (row === undefined) throw new Error('PostgreSQL does not say what time it is')
  return row.now
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10)

async function* pagesSince(db: ServiceContext['db'], since: Date) {
  let after = '0'
  for (;;) {
    const page = await listHeadsSince(db.reader, { since, after, limit: pageMax })
    yield page
    if (page.length < pageMax) return
    after = page.at(-1)?.accountId ?? after
  }
}

interface HeadsExportOptions {
  readonly store: HeadStore
  readonly everyMs: number
  /** Ends what the store is at: the next export has what this one leaves out. */
  readonly stopping: AbortController
}

/** Exports heads in each period, on the first replica to do so, and knows when that was done last. */
export class HeadsExport implements Background {
  readonly #loop: Loop
  readonly #stopping: AbortController
  readonly #tried = Promise.withResolvers<void>()
  #lastAt: Date | null = null

  constructor({ db, log }: Pick<ServiceContext, 'db' | 'log'>, { store, everyMs, stopping }: HeadsExportOptions) {
    this.#stopping = stopping
    this.#loop = new Loop({
      name: 'export of heads',
      log,
      // A period's export is taken soon after it has begun, and again when it failed.
      everyMs: Math.min(lookEveryMsMax, everyMs),
      run: async () => {
        try {
          const now = await timeOf(db)
          const at = new Date(Math.floor(now.getTime() / everyMs) * everyMs)
          if (this.#lastAt !== null && this.#lastAt >= at) return
          await exportHeads({ db }, store, at)
          this.#lastAt = await lastExportAt(store, { now })
        } finally {
          this.#tried.resolve()
        }
      },
    })
  }

  /** When the newest export was taken, by whichever replica; null before that is known. */
  get lastAt(): Date | null {
    return this.#lastAt
  }

  /** Resolves when this process has exported for the first time, or has failed to. */
  get tried(): Promise<void> {
    return this.#tried.promise
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    this.#tried.resolve()
    this.#stopping.abort(new Error('the service is stopping'))
    await this.#loop.stop()
  }
}
