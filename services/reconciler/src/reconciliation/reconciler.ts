import { Rejection } from '@backoffice/contracts'
import type { Background, ServiceContext } from '@backoffice/service-runtime'
import {
  beginRun,
  endRun,
  findCheckpoint,
  findRun,
  isFullRunning,
  keepProgress,
  type Progress,
  type ReconciliationRun,
  silenceSecondsMax,
  wasBegun,
} from '../storage/reconciliations.ts'
import { type ReconcileOptions, reconcile } from './reconcile.ts'

const heartbeatEveryMs = 1_000
const silenceMsMax = silenceSecondsMax * 1_000
/** A step that takes longer waits for a lock or for a connection that is gone, and later runs would wait for it. */
const stallMsMaxDefault = 600_000
/** A statement reads one page. One that takes longer waits for a lock, or is lost. */
const statementMsMaxDefault = 60_000
/** How long one call waits for the end of a run before it replies with the progress. */
const answerWithinMs = 2_000

const waiting: Progress = { check: 'waiting', done: 0, total: 0 }
/** Who starts the runs for which nobody has asked. */
const schedule = 'schedule'

interface ReconcilerContext
  extends Pick<ServiceContext, 'db' | 'clock' | 'log'>,
    Pick<ReconcileOptions, 'heads' | 'team' | 'workers'>,
    Partial<Pick<ReconcileOptions, 'statementMsMax'>> {
  /** From which the books are read. */
  readonly url: string
  /** A run that makes no progress for so long fails. */
  readonly stallMsMax?: number
}

interface RunToBegin extends Pick<ReconcileOptions, 'isFull' | 'piecesMax' | 'restoredTo'> {
  readonly id: string
  readonly startedBy: string
}

/**
 * Runs reconciliations beside the operations, one at a time. The progress of each is stored, so that every replica can
 * read it.
 */
export class Reconciler implements Background {
  readonly #context: ReconcilerContext
  readonly #running = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()
  /** Ends the scheduled runs that there are. */
  #unscheduling = new AbortController()
  #queue: Promise<void> = Promise.resolve()

  constructor(context: ReconcilerContext) {
    this.#context = context
  }

  /** Whether a run is under way, or waits for one. */
  get isRunning(): boolean {
    return this.#running.size > 0
  }

  /**
   * Begins a run under the caller's id; beginning it again changes nothing. One after a restore, for which people wait, ends
   * the scheduled ones: what they prove would be forgotten.
   * @param isFull whether it looks at all that was ever entered, or at what was entered since the last run
   */
  async begin({ id, startedBy, isFull, ...how }: RunToBegin): Promise<ReconciliationRun> {
    const { db, clock } = this.#context
    if (await beginRun(db, { id, startedBy, isFull, progress: waiting, now: clock.now() })) {
      if (how.restoredTo !== undefined) {
        this.#unscheduling.abort(new Error('It was ended for a run after a restore.'))
        this.#unscheduling = new AbortController()
      }
      const signals = [this.#stopping.signal, ...(startedBy === schedule ? [this.#unscheduling.signal] : [])]
      const shown = this.#show(id)
      const run = this.#queue.then(() => this.#run(id, { isFull, ...how, progress: shown.keep }, signals))
      this.#queue = run
      this.#running.set(id, run)
      void run.finally(() => {
        shown.end()
        this.#running.delete(id)
      })
    }
    return this.find(id)
  }

  /** Says that a run is there, also while it waits for another one. */
  #show(id: string) {
    const { db, clock, log } = this.#context
    let progress = waiting
    const heartbeat = setInterval(() => {
      keepProgress(db, { id, progress, now: clock.now() }).catch((error) =>
        log.warn({ err: error }, 'the progress of a reconciliation could not be kept'),
      )
    }, heartbeatEveryMs)
    return {
      keep: (latest: Progress) => {
        progress = latest
      },
      end: () => clearInterval(heartbeat),
    }
  }

  /**
   * Begins a scheduled run, full or a part of a full one when the last such began before a moment. As long as one is under
   * way, in whichever replica, the others are incremental.
   */
  async beginScheduled({
    id,
    fullSince,
    piecesMax,
  }: Pick<RunToBegin, 'id' | 'piecesMax'> & { readonly fullSince: Date }): Promise<void> {
    const { db, clock } = this.#context
    if (await wasBegun(db, id)) return
    const checkpoint = await findCheckpoint(db)
    const isDue = checkpoint === undefined || checkpoint.fullAt < fullSince
    const isFull = isDue && !(await isFullRunning(db, new Date(clock.now().getTime() - silenceMsMax)))
    await this.begin({ id, startedBy: schedule, isFull, piecesMax })
  }

  /**
   * Reads the state of a run. Waits a moment for its end.
   * @throws {Rejection} RECONCILIATION_NOT_FOUND
   */
  async find(id: string): Promise<ReconciliationRun> {
    const running = this.#running.get(id)
    if (running !== undefined) await Promise.race([running, pause(answerWithinMs)])
    const run = await findRun(this.#context.db, id)
    if (run === undefined) throw new Rejection('RECONCILIATION_NOT_FOUND')
    const silenceMs = this.#context.clock.now().getTime() - run.heartbeatAt.getTime()
    if (run.state !== 'running' || this.#running.has(id) || silenceMs <= silenceMsMax) return run
    return { ...run, state: 'failed', failure: 'The process that ran it has ended.' }
  }

  /**
   * A running reconciliation is aborted and counts as failed, because a large ledger takes longer than a shutdown may.
   */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The service was stopped; start another run.'))
    await this.#queue
  }

  async #run(
    id: string,
    { progress, ...how }: Pick<ReconcileOptions, 'isFull' | 'piecesMax' | 'restoredTo' | 'progress'>,
    signals: readonly AbortSignal[],
  ): Promise<void> {
    const { db, clock, log, url, heads, team, workers } = this.#context
    const stalled = new AbortController()
    const { stallMsMax = stallMsMaxDefault, statementMsMax = statementMsMaxDefault } = this.#context
    const stall = setTimeout(() => stalled.abort(new Error('It made no progress for too long.')), stallMsMax)
    const signal = AbortSignal.any([...signals, stalled.signal])
    try {
      const keep = (latest: Progress) => {
        progress(latest)
        stall.refresh()
      }
      const run = { ...how, runId: id, at: clock.now(), heads, team, workers, statementMsMax, signal, progress: keep }
      const report = await reconcile(url, db, run)
      const { kind, differencesTotal } = report
      log[differencesTotal === 0 ? 'info' : 'error'](
        { runId: id, kind, differencesTotal },
        `a reconciliation ended with ${differencesTotal} differences`,
      )
      await endRun(db, { id, report, now: clock.now() })
    } catch (error) {
      log.error({ runId: id, err: error }, 'a run of the reconciliation failed')
      const cause = signal.aborted ? signal.reason : error
      const failure = cause instanceof Error ? cause.message : String(cause)
      await endRun(db, { id, failure, now: clock.now() }).catch(() => {})
    } finally {
      clearTimeout(stall)
    }
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
