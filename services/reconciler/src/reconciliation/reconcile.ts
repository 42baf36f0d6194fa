import type { ReconciliationReport } from '@backoffice/contracts'
import { type Database, fitting, withIsoTimes } from '@backoffice/service-runtime'
import { type ExportedHead, listRestores } from '../heads/exports.ts'
import { evidenceOf } from '../heads/store.ts'
import {
  forgetProofs,
  keepAccountCheckpoints,
  keepCheckpoint,
  keepProofs,
  oldestPieces,
  type Progress,
  provenSince,
  type ReconciliationCheckpoint,
  readProofs,
} from '../storage/reconciliations.ts'
import { type BegunRun, begin, checkNames, findStart, ifReadable, type RunStart, type RunToBegin } from './begin.ts'
import { Chains } from './chains.ts'
import { findInFlight, type Kind } from './check.ts'
import { readEnvironments } from './environments.ts'
import { Findings } from './findings.ts'
import { HeadsComparison, nameExports, stillWanted, wantedOf } from './heads-check.ts'
import { goThrough, prove } from './proof.ts'
import { RecordChecks } from './record-checks.ts'
import { type AfterRestore, followFromHeads, HeadsInOrder } from './restored.ts'
import { reachPresent, Snapshots } from './snapshots.ts'
import { inOrder, pagesOf, sourcesOf } from './sources.ts'
import { entriesSince, SystemSum } from './system-check.ts'

/** How many keys one snapshot looks at, and how many entries of players. */
const pageSizes = { keys: 1_000, entries: 5_000 }

export interface ReconcileOptions extends RunToBegin {
  /** The moment of the run, by which the age of exports is measured. */
  readonly at: Date
  /**
   * The moment to which the database was restored. The run compares what was written since the last run, and of each account
   * only what its head does not vouch for, of the last ones of all accounts that were exported before both.
   */
  readonly restoredTo?: Date | undefined
  /** Over how many connections a proof is divided, and the run after a restore. */
  readonly workers?: number | undefined
  readonly progress: (progress: Progress) => void
  /** A statement that takes longer ends the run. */
  readonly statementMsMax: number
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

class Run {
  readonly #snapshots: Snapshots
  readonly #db: Database
  readonly #options: RunOptions
  readonly #findings: Findings
  readonly #heads: HeadsComparison
  readonly #chains: Chains

  constructor(snapshots: Snapshots, db: Database, options: RunOptions) {
    this.#snapshots = snapshots
    this.#db = db
    const heads = options.heads && { ...options.heads, store: evidenceOf(options.heads.store) }
    this.#options = { ...options, heads }
    const { team } = options
    const configured = { exportedHeads: heads, signatures: team }
    const also = Object.entries(configured).flatMap(([check, setting]) => (setting === undefined ? [] : [check]))
    const findings = new Findings([...checkNames, ...also])
    this.#findings = findings
    const progress = (check: string) => (done: number) => this.#progress(check, done, 0)
    this.#heads = new HeadsComparison({ snapshots, findings, progress: progress('exportedHeads') })
    this.#chains = new Chains(db, findings, options.pages.entries, progress('chains'))
  }

  get #beginner() {
    return { snapshots: this.#snapshots, db: this.#db, options: this.#options, findings: this.#findings }
  }

  async toItsEnd(): Promise<ReconciliationReport> {
    const { at, heads, restoredTo } = this.#options
    // Named before the moment that the snapshots must have reached, so that no head is newer than they are.
    const wanted = wantedOf(await findStart(this.#beginner), restoredTo)
    const exported = heads && (await ifReadable(this.#findings, () => nameExports(heads, wanted, restoredTo)))
    const restores = heads && (await ifReadable(this.#findings, () => listRestores(heads.store)))
    const begun = await begin(this.#beginner)
    const { checkpoint, since } = begun
    const headsAnew = restoredTo !== undefined && exported !== undefined
    if (checkpoint !== undefined) await this.#lookAgain(checkpoint, begun, headsAnew)
    const pieces = await this.#piecesToProve(begun)
    const systemSums = since === null ? [] : await this.#lookAtNew(begun)
    if (restoredTo === undefined || since === null) await this.#followTouched(begun)
    else
      await this.#askAnew(begun, (connections, anew) =>
        followFromHeads(connections, new HeadsInOrder(exported?.base?.read()), anew),
      )
    const provenSums =
      pieces === undefined
        ? []
        : await this.#askAnew(begun, (connections, anew) => prove(connections, { ...anew, share: pieces }))
    await begun.checks.lookAgain(this.#snapshots, this.#options.pages.keys)
    this.#compareSums([...systemSums, ...provenSums])
    if (heads && exported) await ifReadable(this.#findings, () => this.#heads.compareAll(heads, exported.rest(), at))
    const inFlight = await this.#findInFlight()
    const environmentOf = await this.#snapshots.see((db) => readEnvironments(db, this.#findings.brands))
    const fullAt = pieces === undefined ? (checkpoint?.fullAt ?? at) : at
    const provenSince = await this.#keep(begun, { sums: since === null ? provenSums : systemSums, fullAt, pieces })
    const { differences, ...counts } = this.#findings.report(environmentOf)
    return {
      snapshotAt: at.toISOString(),
      kind:
        since === null ? 'full' : restoredTo !== undefined ? 'restored' : pieces === undefined ? 'incremental' : 'part',
      fullAt: fullAt.toISOString(),
      provenSince: provenSince?.toISOString() ?? null,
      ...(restoredTo === undefined
        ? {}
        : {
            restored: {
              restoredTo: restoredTo.toISOString(),
              exportedAt: exported?.base?.at.toISOString() ?? null,
              accounts: this.#chains.accounts,
              vouchedFor: this.#chains.vouchedFor,
            },
          }),
      ...counts,
      restores: (restores ?? []).map(({ history: _, ...restore }) => withIsoTimes(restore)),
      // A report is a reply, and must fit into one message.
      differences: fitting(differences),
      ...inFlight,
    }
  }

  /**
   * What the run before found different. A full run looks at everything anyway, except at heads of long ago.
   * @param headsAnew after a restore: heads that were counted without a name are compared again with all others
   */
  async #lookAgain({ open }: ReconciliationCheckpoint, { since, checks }: BegunRun, headsAnew: boolean): Promise<void> {
    const keys = Map.groupBy(open.listed, ({ kind }) => kind)
    const heads = keys.get('head')?.map(({ key }) => JSON.parse(key) as ExportedHead) ?? []
    const configured = this.#options.heads
    if (configured !== undefined && heads.length > 0)
      await this.#heads.compare((await ifReadable(this.#findings, () => stillWanted(configured, heads))) ?? heads)
    if (since === null) return
    this.#findings.addOpen(open.unlisted.filter(({ check }) => !(headsAnew && check === 'exportedHeads')))
    for (const [kind, differences] of keys) {
      if (kind === null)
        for (const { difference } of differences) {
          const { check, ...found } = difference
          this.#findings.add(check, found, 'full run')
        }
      else if (kind === 'account')
        for (const { key } of differences) {
          checks.accounts.add(BigInt(key))
          this.#chains.fromZero.add(BigInt(key))
        }
      else if (kind !== 'head')
        for (const some of pagesOf([...new Set(differences.map(({ key }) => key))], this.#options.pages.keys))
          await this.#snapshots.see((db) => checks.examine(db, kind as Kind, some))
    }
  }

  /** What was entered since the last run, and what it is about. */
  async #lookAtNew(begun: BegunRun): Promise<readonly SystemSum[]> {
    const { since, checks, endedBelow, systemAccounts } = begun
    const sums = systemAccounts.map((account) => new SystemSum(account, since?.below ?? null))
    const { keys: limit } = this.#options.pages
    const progress = this.#progress.bind(this)
    for (const sum of sums)
      for await (const amount of entriesSince(this.#snapshots, sum, { endedBelow, checks, limit, since })) {
        this.#chains.sums.add({ ...sum.account, amount })
        progress('sums', 0, 0)
      }
    for (const source of sourcesOf(since, endedBelow))
      await goThrough(source, { snapshots: this.#snapshots, checks, limit, progress })
    return sums
  }

  /** Asks all of what there is, whatever runs before have verified, over as many connections as share the work. */
  async #askAnew<T>(
    begun: BegunRun,
    ask: (connections: readonly Snapshots[], run: AfterRestore) => Promise<T>,
  ): Promise<T> {
    const checks = new RecordChecks({ ...begun.ask, since: null })
    const { keys: limit } = this.#options.pages
    const progress = this.#progress.bind(this)
    await using ending = new AsyncDisposableStack()
    const connections = await this.#connect(ending)
    const [findings, chains, heads] = [this.#findings, this.#chains, this.#heads]
    const asked = await ask(connections, { ...begun, checks, findings, chains, heads, limit, progress })
    await checks.lookAgain(this.#snapshots, limit)
    return asked
  }

  async #connect(ending: AsyncDisposableStack): Promise<readonly Snapshots[]> {
    const { workers = 1, signal } = this.#options
    const others: Snapshots[] = []
    for (let count = 1; count < workers; count++) {
      const other = await this.#snapshots.another()
      ending.defer(() => other.close())
      // It may be of another standby.
      await reachPresent(other, this.#db, signal)
      others.push(other)
    }
    return [this.#snapshots, ...others]
  }

  /** The chains of the accounts that were touched. */
  async #followTouched(begun: BegunRun): Promise<void> {
    const { checks } = begun
    for (const ids of pagesOf([...checks.accounts].sort(inOrder), this.#options.pages.keys))
      await this.#chains.follow(this.#snapshots, ids, {
        ...begun,
        fromZero: (id) => this.#chains.fromZero.has(id),
        enteredFrom: begun.since?.below ?? 0n,
      })
  }

  /** All: null. None: undefined. */
  async #piecesToProve({ since, isProof }: RunStart): Promise<readonly number[] | null | undefined> {
    if (since === null) return null
    return isProof ? oldestPieces(await this.#snapshots.see(readProofs), this.#options.piecesMax ?? 0) : undefined
  }

  #compareSums(systemSums: readonly SystemSum[]): void {
    // After a restore what heads vouch for is not added up: the proof does that.
    const isSummed = this.#chains.vouchedFor === 0
    for (const found of isSummed ? this.#chains.sums.differences() : []) this.#findings.add('sums', found, 'full run')
    this.#findings.compared('sums', isSummed ? this.#chains.sums.size : 0)
    for (const sum of systemSums) for (const found of sum.faults()) this.#findings.add('checkpoints', found, 'any run')
    this.#findings.compared('checkpoints', systemSums.length)
  }

  /**
   * In one transaction: how far the run came, the sums that belong to it, and what it proved. What was proven before a
   * restore was proven of another database.
   * @returns since when everything was proven
   */
  async #keep(
    { checkpoint, since, endedBelow, at }: BegunRun,
    {
      sums,
      fullAt,
      pieces,
    }: Pick<ReconciliationCheckpoint, 'fullAt'> & {
      readonly sums: readonly SystemSum[]
      readonly pieces: readonly number[] | null | undefined
    },
  ): Promise<Date | null> {
    const { runId, restoredTo } = this.#options
    const below = String(endedBelow)
    const reached = { runId, below, at, fullAt, open: this.#findings.open }
    return this.#db.transaction(async (db) => {
      const isKept = await keepCheckpoint(db, reached, since === null ? null : (checkpoint?.runId ?? null))
      if (isKept) {
        await keepAccountCheckpoints(
          db,
          sums.map(({ checkpoint }) => checkpoint),
          below,
        )
        if (restoredTo !== undefined) await forgetProofs(db)
        if (pieces !== undefined) await keepProofs(db, pieces, at)
      }
      return provenSince(await readProofs(db))
    })
  }

  async #findInFlight(): Promise<Pick<ReconciliationReport, 'inFlight' | 'inFlightTotal'>> {
    const { overdue, unlisted, listed, total } = await this.#snapshots.see(findInFlight)
    for (const found of overdue) this.#findings.add('inFlight', found, 'any run')
    this.#findings.addUnlisted('inFlight', unlisted)
    this.#findings.compared('inFlight', total)
    return { inFlight: fitting(listed), inFlightTotal: total }
  }

  #progress(check: string, done: number, total: number): void {
    this.#options.progress({ check, done, total: Math.max(done, total) })
  }
}
