import type { ReconciliationReport } from '@backoffice/contracts'
import { type Database, fitting, withIsoTimes } from '@backoffice/service-runtime'
import type { ExportedHead } from '../heads/exports.ts'
import { listRestores } from '../heads/restores.ts'
import { EvidenceMissing, told } from '../heads/store.ts'
import {
  findCheckpoint,
  keepAccountCheckpoints,
  keepCheckpoint,
  keepMoment,
  type Progress,
  type ReconciliationCheckpoint,
} from '../storage/reconciliations.ts'
import { checkAccounts } from './account-check.ts'
import { evidence, type Kind } from './check.ts'
import { readElsewhere } from './elsewhere.ts'
import { readEnvironments } from './environments.ts'
import { Examination, unreadable } from './examination.ts'
import { Findings } from './findings.ts'
import { type ConfiguredHeads, HeadsComparison, nameExports, notSeen, stillWanted, wantedOf } from './heads-check.ts'
import { findInFlight } from './in-flight-check.ts'
import { allPlayers } from './players-checks.ts'
import { checkNames, sqlQuestions } from './questions.ts'
import { signatures } from './signatures.ts'
import { reachPresent, Snapshots } from './snapshots.ts'
import {
  beginningOf,
  estimate,
  inOrder,
  pagesOf,
  type Since,
  type Source,
  sourcesOf,
  withoutTransfer,
} from './sources.ts'
import {
  CurrencySums,
  readSystemAccounts,
  readSystemEntries,
  type SystemAccount,
  type SystemPlace,
  SystemSum,
} from './system-check.ts'
import { TeamHistory, type TeamRules } from './team-history.ts'

/** How many keys one snapshot looks at, and how many entries of players. */
const pageSizes = { keys: 1_000, entries: 5_000 }

export interface ReconcileOptions {
  readonly runId: string
  /**
   * Whether all that was ever entered is looked at, or what was entered since the last run that ended. Without such a run
   * it is always full.
   */
  readonly isFull: boolean
  /** The moment of the run, by which the age of exports is measured. */
  readonly at: Date
  /** Where heads of chains are exported to, if they are. */
  readonly heads?: ConfiguredHeads | undefined
  /** Whose signatures corrections must have. Without it none is verified. */
  readonly team?: TeamRules | undefined
  readonly progress: (progress: Progress) => void
  /** A statement that takes longer ends the run. */
  readonly statementMsMax: number
  /** Ends the run at once, even in the middle of a query. */
  readonly signal: AbortSignal
  readonly pages?: typeof pageSizes
}

/**
 * Compares all that the wallet keeps with the records that caused it, and balances and hash chains with the entries, in
 * many short snapshots. Each record is seen in one snapshot together with all that it is compared with; of two databases
 * in two, and what differs is looked at again.
 * @param url from which all is read, with the reconciler's role. A standby will do.
 * @param db where checkpoints are written. They count when the run has ended
 */
export async function reconcile(
  url: string,
  db: Database,
  { pages = pageSizes, ...options }: ReconcileOptions,
): Promise<ReconciliationReport> {
  const snapshots = await Snapshots.connect(url, options)
  try {
    options.signal.throwIfAborted()
    return await new Run(snapshots, db, { ...options, pages }).toItsEnd()
  } finally {
    await snapshots.close()
  }
}

type RunOptions = ReconcileOptions & { readonly pages: typeof pageSizes }

/** What a run begins with, as of one moment. */
interface Beginning {
  readonly checkpoint: ReconciliationCheckpoint | undefined
  /** Null in a full run. */
  readonly since: Since | null
  /** Transactions below this one have ended, and what they entered is seen. */
  readonly endedBelow: bigint
  readonly systemAccounts: readonly SystemAccount[]
}

/** A run that has begun, with what it asks. */
interface Begun extends Beginning {
  readonly at: Date
  readonly examination: Examination
}

class Run {
  readonly #snapshots: Snapshots
  readonly #db: Database
  readonly #options: RunOptions
  readonly #findings: Findings
  /** Accounts whose chains are followed from their first entry on. */
  readonly #fromZero = new Set<bigint>()
  readonly #heads: HeadsComparison
  /** Of transactions that have ended since the last run. */
  readonly #sums = new CurrencySums()

  constructor(snapshots: Snapshots, db: Database, options: RunOptions) {
    this.#snapshots = snapshots
    this.#db = db
    const heads = options.heads && { ...options.heads, store: told(options.heads.store) }
    this.#options = { ...options, heads }
    const { team } = options
    const configured = { exportedHeads: heads, signatures: team }
    const also = Object.entries(configured).flatMap(([check, setting]) => (setting === undefined ? [] : [check]))
    const findings = new Findings([...checkNames, ...also])
    this.#findings = findings
    const progress = (done: number) => this.#progress('exportedHeads', done, 0)
    this.#heads = new HeadsComparison({ snapshots, findings, progress })
  }

  async toItsEnd(): Promise<ReconciliationReport> {
    const { at, heads } = this.#options
    // Named before the moment that the snapshots must have reached, so that no head is newer than they are.
    const wanted = wantedOf(await this.#look())
    const exported = heads && (await this.#seen(() => nameExports(heads, wanted)))
    const restores = heads && (await this.#seen(() => listRestores(heads.store)))
    const begun = await this.#begin()
    const { checkpoint, since, systemAccounts } = begun
    if (checkpoint !== undefined) await this.#lookAgain(checkpoint, begun)
    const systemSums = systemAccounts.map((account) => new SystemSum(account, since?.below ?? null))
    for (const sum of systemSums) await this.#addSystemEntries(sum, begun)
    for (const source of sourcesOf(since, begun.endedBelow)) await this.#goThrough(source, begun)
    await this.#followChains(begun)
    await begun.examination.lookAgain(this.#snapshots, this.#options.pages.keys)
    this.#compareSums(systemSums)
    if (heads && exported) await this.#seen(() => this.#heads.compareAll(heads, exported(), at))
    const inFlight = await this.#snapshots.see(findInFlight)
    for (const found of inFlight.overdue) this.#findings.add('inFlight', found, 'any run')
    this.#findings.addUnlisted('inFlight', inFlight.unlisted)
    this.#findings.compared('inFlight', inFlight.total)
    const environmentOf = await this.#snapshots.see((db) => readEnvironments(db, this.#findings.brands))
    const fullAt = since === null ? at : (checkpoint?.fullAt ?? at)
    await this.#keep(begun, { systemSums, fullAt })
    const { differences, ...counts } = this.#findings.report(environmentOf)
    return {
      snapshotAt: at.toISOString(),
      kind: since === null ? 'full' : 'incremental',
      fullAt: fullAt.toISOString(),
      ...counts,
      restores: (restores ?? []).map(({ history: _, ...restore }) => withIsoTimes(restore)),
      // A report is a reply, and must fit into one message.
      differences: fitting(differences),
      inFlight: fitting(inFlight.listed),
      inFlightTotal: inFlight.total,
    }
  }

  /** Says where the run begins, and what it asks. */
  async #begin(): Promise<Begun> {
    const { runId, heads, team: rules, signal } = this.#options
    const elsewhere = await this.#snapshots.see(readElsewhere)
    await keepMoment(this.#db, runId, new Set(elsewhere.values()))
    const at = await reachPresent(this.#snapshots, this.#db, signal)
    const team =
      rules &&
      ((await this.#seen(() => TeamHistory.read(rules, at, heads?.store))) ??
        (await TeamHistory.read(rules, at, undefined)))
    const beginning = await this.#look()
    const open = beginning.checkpoint?.open.listed ?? []
    const named = new Set(open.filter(({ kind }) => kind !== null && kind !== 'head').map(({ key }) => key))
    const judging = { since: beginning.since?.at ?? null, isDevelopment: rules?.isDevelopment === true, elsewhere }
    const questions = [
      ...sqlQuestions(team?.payAlone ?? []),
      ...(team === undefined ? [] : signatures({ at, team, named, ...judging })),
    ]
    const isOfTwo = elsewhere.size > 0
    const examination = new Examination({ questions, findings: this.#findings, since: beginning.since, isOfTwo })
    return { ...beginning, at, examination }
  }

  /** What needs the store of heads. Undefined where it cannot be read, which is found and ends nothing. */
  async #seen<T>(look: () => Promise<T>): Promise<T | undefined> {
    try {
      return await look()
    } catch (error) {
      if (!(error instanceof EvidenceMissing)) throw error
      this.#findings.add(evidence, notSeen(error), 'any run')
      return undefined
    }
  }

  #look(): Promise<Beginning> {
    return this.#snapshots.see(async (db) => {
      const [horizon] = await db<{ below: string }>`select pg_snapshot_xmin(pg_current_snapshot())::text as below`
      const endedBelow = BigInt(horizon?.below ?? 0)
      const fault = unreadable('the end of the last run', 'it is not what a run writes')
      const checkpoint = await findCheckpoint(db, () => this.#findings.add('checkpoints', fault, 'any run'))
      // Transactions are counted anew in a cluster that was restored from a dump.
      const isUsable = checkpoint !== undefined && BigInt(checkpoint.below) <= endedBelow
      const since = this.#options.isFull || !isUsable ? null : beginningOf(checkpoint)
      return { checkpoint, since, endedBelow, systemAccounts: await readSystemAccounts(db) }
    })
  }

  /** What the run before found different. A full run looks at everything anyway, except at heads of long ago. */
  async #lookAgain({ open }: ReconciliationCheckpoint, { since, examination }: Begun): Promise<void> {
    const keys = Map.groupBy(open.listed, ({ kind }) => kind)
    const heads = keys.get('head')?.map(({ key }) => JSON.parse(key) as ExportedHead) ?? []
    const configured = this.#options.heads
    if (configured !== undefined && heads.length > 0)
      await this.#heads.compare((await this.#seen(() => stillWanted(configured, heads))) ?? heads)
    if (since === null) return
    this.#findings.addOpen(open)
    for (const [kind, differences] of keys) {
      if (kind === null)
        for (const { difference } of differences) {
          const { check, ...found } = difference
          this.#findings.add(check, found, 'full run')
        }
      else if (kind === 'account')
        for (const { key } of differences) {
          examination.accounts.add(BigInt(key))
          this.#fromZero.add(BigInt(key))
        }
      else if (kind !== 'head')
        for (const some of pagesOf([...new Set(differences.map(({ key }) => key))], this.#options.pages.keys))
          await this.#snapshots.see((db) => examination.examine(db, kind as Kind, some))
    }
  }

  /** All entries of a system account; by them an incremental run finds what was posted. */
  async #addSystemEntries(sum: SystemSum, { since, endedBelow, examination }: Begun): Promise<void> {
    const { id: accountId, brandId, currency } = sum.account
    const limit = this.#options.pages.keys
    for (let place: SystemPlace | null = { xid: sum.from, after: null }; place !== null; ) {
      const from: SystemPlace = place
      const { entries, next } = await this.#snapshots.see(async (db) => {
        const page = await readSystemEntries(db, from, { accountId, below: endedBelow, limit })
        const ids = [...new Set(page.entries.map(({ transferId }) => transferId))]
        await examination.examine(db, 'transfer', since === null ? await withoutTransfer(db, ids) : ids)
        return page
      })
      for (const entry of entries) {
        sum.add(entry)
        if (since === null || BigInt(entry.xid) >= since.below)
          this.#sums.add({ brandId, currency, amount: entry.amount })
      }
      this.#progress('sums', entries.length, 0)
      place = next
    }
  }

  /** Page after page of one source, each in a snapshot of its own. */
  async #goThrough(source: Source, { since, examination }: Begun): Promise<void> {
    const limit = this.#options.pages.keys
    const total = since === null ? await this.#snapshots.see((db) => estimate(db, source.table)) : 0
    let done = 0
    for (let after = source.first; ; ) {
      const rows = await this.#snapshots.see(async (db) => {
        const rows = await source.page(db, after, limit)
        const keys = rows.filter(({ skipped }) => !skipped).map(({ key }) => key)
        await examination.examine(db, source.kind, keys)
        return rows
      })
      done += rows.length
      this.#progress(source.kind, done, total)
      const last = rows.at(-1)
      if (last === undefined || rows.length < limit) return
      after = last.place
    }
  }

  /** The chains of all players, or of those whose accounts were touched. */
  async #followChains(begun: Begun): Promise<void> {
    const { since, examination } = begun
    const limit = this.#options.pages.keys
    const total = since === null ? await this.#snapshots.see((db) => estimate(db, 'wallet.entry')) : 0
    let done = 0
    const pages =
      since === null
        ? allPlayers(this.#snapshots, limit, (found) => this.#findings.add('chains', found, 'full run'))
        : pagesOf([...examination.accounts].sort(inOrder), limit)
    for await (const ids of pages) {
      done += await this.#followChainsOf(ids, begun)
      this.#progress('chains', done, total)
    }
  }

  async #followChainsOf(ids: readonly bigint[], { since, endedBelow }: Beginning): Promise<number> {
    const { accounts, entries, checkpoints } = await checkAccounts(
      this.#snapshots,
      {
        ids,
        fromZero: (id) => since === null || this.#fromZero.has(id),
        believedBelow: since?.below ?? endedBelow,
        endedBelow,
      },
      {
        add: (check, id, found) => this.#findings.add(check, found, { kind: 'account', key: String(id) }),
        entered: ({ xid, ...entry }) => {
          if (xid >= (since?.below ?? 0n) && xid < endedBelow) this.#sums.add(entry)
        },
      },
      this.#options.pages.entries,
    )
    this.#findings.compared('balances', accounts)
    this.#findings.compared('chains', entries)
    this.#findings.compared('checkpoints', checkpoints.length)
    await keepAccountCheckpoints(this.#db, checkpoints, String(endedBelow))
    return entries
  }

  #compareSums(systemSums: readonly SystemSum[]): void {
    for (const found of this.#sums.differences()) this.#findings.add('sums', found, 'full run')
    this.#findings.compared('sums', this.#sums.size)
    for (const sum of systemSums) for (const found of sum.faults()) this.#findings.add('checkpoints', found, 'any run')
    this.#findings.compared('checkpoints', systemSums.length)
  }

  /** In one transaction: how far the run came, and the sums that belong to it. */
  async #keep(
    { checkpoint, since, endedBelow, at }: Begun,
    { systemSums, fullAt }: { readonly systemSums: readonly SystemSum[]; readonly fullAt: Date },
  ): Promise<void> {
    const below = String(endedBelow)
    const reached = { runId: this.#options.runId, below, at, fullAt, open: this.#findings.open }
    const sums = systemSums.map(({ checkpoint }) => checkpoint)
    await this.#db.transaction(async (db) => {
      const isKept = await keepCheckpoint(db, reached, since === null ? null : (checkpoint?.runId ?? null))
      if (isKept) await keepAccountCheckpoints(db, sums, below)
    })
  }

  #progress(check: string, done: number, total: number): void {
    this.#options.progress({ check, done, total: Math.max(done, total) })
  }
}
