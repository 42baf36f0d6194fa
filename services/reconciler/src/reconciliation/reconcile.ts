import type { ReconciliationReport } from '@backoffice/contracts'
import { type Database, fitting, withIsoTimes } from '@backoffice/service-runtime'
import type { ExportedHead } from '../heads/exports.ts'
import { listRestores } from '../heads/restores.ts'
import { EvidenceMissing, told } from '../heads/store.ts'
import { forgetProofs, keepProofs, oldestPieces, piecesInAll, provenSince, readProofs } from '../storage/proofs.ts'
import {
  findCheckpoint,
  keepAccountCheckpoints,
  keepCheckpoint,
  keepMoment,
  type Progress,
  type ReconciliationCheckpoint,
} from '../storage/reconciliations.ts'
import { type AccountsToCheck, checkAccounts } from './account-check.ts'
import { evidence, type Kind } from './check.ts'
import { readElsewhere } from './elsewhere.ts'
import { readEnvironments } from './environments.ts'
import { Examination, unreadable } from './examination.ts'
import { Findings } from './findings.ts'
import {
  type ConfiguredHeads,
  HeadsComparison,
  type NamedExports,
  nameExports,
  notSeen,
  stillWanted,
  wantedOf,
} from './heads-check.ts'
import { eventsKeptSeconds } from './history-checks.ts'
import { findInFlight } from './in-flight-check.ts'
import { goThrough, prove } from './proof.ts'
import { checkNames, sqlQuestions } from './questions.ts'
import { followFromHeads, from, HeadsInOrder } from './restored.ts'
import { signatures } from './signatures.ts'
import { reachPresent, Snapshots } from './snapshots.ts'
import { beginningOf, inOrder, pagesOf, type Since, sourcesOf } from './sources.ts'
import { CurrencySums, entriesSince, readSystemAccounts, type SystemAccount, SystemSum } from './system-check.ts'
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
  /** How many of all pieces a full run proves, those first whose proof is the oldest, after what was entered lately. */
  readonly piecesMax?: number | undefined
  /**
   * The moment to which the database was restored. The run compares what was written since the last heads of all accounts
   * that were exported before, and of each account only what that head does not vouch for.
   */
  readonly restoredTo?: Date | undefined
  /** Over how many connections a proof is divided. */
  readonly workers?: number | undefined
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
  /** Null in a run that looks at everything. */
  readonly since: Since | null
  readonly isProof: boolean
  /** Transactions below this one have ended, and what they entered is seen. */
  readonly endedBelow: bigint
  readonly systemAccounts: readonly SystemAccount[]
}

/** A run that has begun, with what it asks. */
interface Begun extends Beginning {
  readonly at: Date
  readonly isOfTwo: boolean
  /** What an examination asks. */
  readonly ask: Omit<ConstructorParameters<typeof Examination>[0], 'since'>
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
  #accounts = 0
  #vouchedFor = 0

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
    const { at, heads, restoredTo } = this.#options
    // Named before the moment that the snapshots must have reached, so that no head is newer than they are.
    const wanted = wantedOf(await this.#look(), restoredTo)
    const exported = heads && (await this.#seen(() => nameExports(heads, wanted, restoredTo)))
    const restores = heads && (await this.#seen(() => listRestores(heads.store)))
    const begun = await this.#begin(exported?.base?.at)
    const { checkpoint, since } = begun
    if (checkpoint !== undefined) await this.#lookAgain(checkpoint, begun)
    const pieces = await this.#piecesToProve(begun)
    const systemSums = since === null ? [] : await this.#lookAtNew(begun)
    if (restoredTo === undefined || since === null) await this.#followTouched(begun)
    else await this.#followFromHeads(begun, exported?.base)
    const provenSums = pieces === undefined ? [] : await this.#prove(pieces, begun)
    await begun.examination.lookAgain(this.#snapshots, this.#options.pages.keys)
    this.#compareSums([...systemSums, ...provenSums])
    if (heads && exported) await this.#seen(() => this.#heads.compareAll(heads, exported.rest(), at))
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
              accounts: this.#accounts,
              vouchedFor: this.#vouchedFor,
            },
          }),
      ...counts,
      restores: (restores ?? []).map(({ history: _, ...restore }) => withIsoTimes(restore)),
      // A report is a reply, and must fit into one message.
      differences: fitting(differences),
      ...inFlight,
    }
  }

  /** Says where the run begins, and what it asks. */
  async #begin(exportedAt: Date | undefined): Promise<Begun> {
    const { runId, heads, team: rules, signal } = this.#options
    const elsewhere = await this.#snapshots.see(readElsewhere)
    await keepMoment(this.#db, runId, new Set(elsewhere.values()))
    const at = await reachPresent(this.#snapshots, this.#db, signal)
    const team =
      rules &&
      ((await this.#seen(() => TeamHistory.read(rules, at, heads?.store))) ??
        (await TeamHistory.read(rules, at, undefined)))
    const beginning = from(await this.#look(), exportedAt)
    const open = beginning.checkpoint?.open.listed ?? []
    const named = new Set(open.filter(({ kind }) => kind !== null && kind !== 'head').map(({ key }) => key))
    const judging = { since: beginning.since?.at ?? null, isDevelopment: rules?.isDevelopment === true, elsewhere }
    const questions = [
      ...sqlQuestions(team?.payAlone ?? []),
      ...(team === undefined ? [] : signatures({ at, team, named, ...judging })),
    ]
    const isOfTwo = elsewhere.size > 0
    const ask = { questions, findings: this.#findings, isOfTwo }
    return { ...beginning, at, ask, isOfTwo, examination: new Examination({ ...ask, since: beginning.since }) }
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
      const { isFull, piecesMax = piecesInAll } = this.#options
      const since = !isUsable || (isFull && piecesMax >= piecesInAll) ? null : beginningOf(checkpoint)
      return {
        checkpoint,
        since,
        isProof: isFull || since === null,
        endedBelow,
        systemAccounts: await readSystemAccounts(db),
      }
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

  /** What was entered since the last run, and what it is about. */
  async #lookAtNew(begun: Begun): Promise<readonly SystemSum[]> {
    const { since, examination, endedBelow, systemAccounts } = begun
    const sums = systemAccounts.map((account) => new SystemSum(account, since?.below ?? null))
    const { keys: limit } = this.#options.pages
    const progress = this.#progress.bind(this)
    for (const sum of sums)
      for await (const amount of entriesSince(this.#snapshots, sum, { endedBelow, examination, limit, since })) {
        this.#sums.add({ ...sum.account, amount })
        progress('sums', 0, 0)
      }
    for (const source of sourcesOf(since, endedBelow))
      await goThrough(source, { snapshots: this.#snapshots, examination, limit, progress })
    return sums
  }

  /** What there is of a share, whatever runs before have verified. */
  async #prove(pieces: readonly number[] | null, begun: Begun): Promise<readonly SystemSum[]> {
    const { since, at, ask, isOfTwo, endedBelow, systemAccounts } = begun
    const examination = new Examination({ ...ask, since: null })
    // No event of what was confirmed before need be kept.
    const toldBefore = new Date(at.getTime() - eventsKeptSeconds * 1_000)
    const { workers = 1, pages } = this.#options
    await using ending = new AsyncDisposableStack()
    const others: Snapshots[] = []
    for (let count = 1; count < workers; count++) {
      const other = await this.#snapshots.another()
      ending.defer(() => other.close())
      // It may be of another standby.
      await reachPresent(other, this.#db, this.#options.signal)
      others.push(other)
    }
    const sums = await prove([this.#snapshots, ...others], {
      ...{ systemAccounts, endedBelow, toldBefore, examination, isOfTwo, share: pieces },
      limit: pages.keys,
      progress: this.#progress.bind(this),
      // Of some accounts alone nothing sums to zero.
      sums: since === null ? this.#sums : new CurrencySums(),
      found: (check, found) => this.#findings.add(check, found, 'full run'),
      compared: (entries) => this.#findings.compared('chains', entries),
      // What was entered is added up with the transfers.
      lookAtEnds: async (snapshots, ids, broken) => {
        const ends = { ...begun, fromZero: () => true, fromLast: true, enteredFrom: endedBelow }
        const { accounts, checkpoints } = await this.#checkAccounts(snapshots, ids, ends, broken)
        this.#findings.compared('balances', accounts)
        this.#findings.compared('checkpoints', checkpoints.length)
      },
      follow: async (snapshots, ids) => {
        await this.#checkAccounts(snapshots, ids, { ...begun, fromZero: () => true, enteredFrom: endedBelow })
      },
    })
    await examination.lookAgain(this.#snapshots, pages.keys)
    return sums
  }

  /** All accounts after a restore: what the exported heads do not vouch for. */
  async #followFromHeads(begun: Begun, base: NamedExports['base']): Promise<void> {
    const { since, ask, endedBelow } = begun
    const examination = new Examination({ ...ask, since: null })
    await followFromHeads(new HeadsInOrder(base?.read()), {
      ...{ snapshots: this.#snapshots, examination, compared: this.#heads, limit: this.#options.pages.keys },
      progress: this.#progress.bind(this),
      seen: (look) => this.#seen(look),
      found: (check, found) => this.#findings.add(check, found, 'full run'),
      follow: (ids, heads) => {
        const vouching = new Map([...heads].filter(([id]) => !this.#fromZero.has(id)))
        const how = { since, endedBelow, enteredFrom: since?.below ?? 0n, heads: vouching }
        return this.#followChainsOf(this.#snapshots, ids, { ...how, fromZero: () => true })
      },
    })
    await examination.lookAgain(this.#snapshots, this.#options.pages.keys)
  }

  /** The chains of the accounts that were touched. */
  async #followTouched(begun: Begun): Promise<void> {
    const { examination } = begun
    let done = 0
    for (const ids of pagesOf([...examination.accounts].sort(inOrder), this.#options.pages.keys)) {
      done += await this.#followChainsOf(this.#snapshots, ids, {
        ...begun,
        fromZero: (id) => this.#fromZero.has(id),
        enteredFrom: begun.since?.below ?? 0n,
      })
      this.#progress('chains', done, 0)
    }
  }

  /** @returns how many entries were looked at */
  async #followChainsOf(
    snapshots: Snapshots,
    ids: readonly bigint[],
    how: Pick<Beginning, 'since'> & Omit<AccountsToCheck, 'ids' | 'believedBelow'>,
  ): Promise<number> {
    const { accounts, entries, vouchedFor, checkpoints } = await this.#checkAccounts(snapshots, ids, how)
    this.#vouchedFor += vouchedFor
    this.#accounts += accounts
    this.#findings.compared('balances', accounts)
    this.#findings.compared('chains', entries)
    this.#findings.compared('checkpoints', checkpoints.length)
    return entries
  }

  /** @param broken is told of accounts that are not right, which are then followed to say why; else it is said here */
  async #checkAccounts(
    snapshots: Snapshots,
    ids: readonly bigint[],
    { since, ...how }: Pick<Beginning, 'since'> & Omit<AccountsToCheck, 'ids' | 'believedBelow'>,
    broken?: (id: bigint) => void,
  ) {
    const left = new Set<bigint>()
    const found = await checkAccounts(
      snapshots,
      { ...how, ids, believedBelow: since?.below ?? how.endedBelow },
      {
        add: (check, id, found) => {
          if (broken === undefined) this.#findings.add(check, found, { kind: 'account', key: String(id) })
          else left.add(id)
        },
        entered: (entry) => this.#sums.add(entry),
      },
      this.#options.pages.entries,
    )
    for (const id of left) broken?.(id)
    const checkpoints = found.checkpoints.filter(({ accountId }) => !left.has(accountId))
    await keepAccountCheckpoints(this.#db, checkpoints, String(how.endedBelow))
    return found
  }

  /** All: null. None: undefined. */
  async #piecesToProve({ since, isProof }: Beginning): Promise<readonly number[] | null | undefined> {
    if (since === null) return null
    return isProof ? oldestPieces(await this.#snapshots.see(readProofs), this.#options.piecesMax ?? 0) : undefined
  }

  #compareSums(systemSums: readonly SystemSum[]): void {
    // After a restore what heads vouch for is not added up: the proof does that.
    const isSummed = this.#vouchedFor === 0
    for (const found of isSummed ? this.#sums.differences() : []) this.#findings.add('sums', found, 'full run')
    this.#findings.compared('sums', isSummed ? this.#sums.size : 0)
    for (const sum of systemSums) for (const found of sum.faults()) this.#findings.add('checkpoints', found, 'any run')
    this.#findings.compared('checkpoints', systemSums.length)
  }

  /**
   * In one transaction: how far the run came, the sums that belong to it, and what it proved. What was proven before a
   * restore was proven of another database.
   * @returns since when everything was proven
   */
  async #keep(
    { checkpoint, since, endedBelow, at }: Begun,
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
