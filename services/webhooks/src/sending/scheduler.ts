import { randomUUID } from 'node:crypto'
import type { SecretBox } from '@backoffice/database/vault'
import { type Clock, Loop, retry } from '@backoffice/process'
import type { Background, Transaction } from '@backoffice/service-runtime'
import { type Lease, leaseDeliveries, lockDueEndpoints, openBody } from '../deliveries/schedule-delivery.ts'
import { afterPause, type Endpoint, type SigningSecret, signatureHeaders } from '../endpoints/endpoint.ts'
import { loadSecrets, openSecrets, saveEndpoints, toEndpoint } from '../endpoints/records.ts'
import { type MadeAttempt, type NextDue, Recorder, type RecorderContext } from './recorder.ts'
import { observeAttempt, type Send } from './sender.ts'

const endpointsPerLookMax = 500
const recordRetryMs = 500

export interface SchedulerContext extends RecorderContext {
  readonly clock: Clock
  readonly box: SecretBox
  readonly send: Send
  readonly leaseMs: number
}

type SecretsOf = (endpointId: string) => readonly SigningSecret[]

/** What one look at the due deliveries has leased. */
interface Taken {
  readonly leases: readonly Lease[]
  /** Endpoints that had something due. */
  readonly endpointIds: readonly string[]
  readonly secretsOf: SecretsOf
  /** Endpoints that another transaction has locked. */
  readonly busy: readonly string[]
}

/** Leases due deliveries, sends them, and records the outcomes. Replicas share the work through the leases. */
export class Scheduler implements Background {
  readonly #context: SchedulerContext
  readonly #recorder: Recorder
  readonly #loop: Loop
  readonly #wakeups = new Wakeups(() => this.#loop.nudge())
  readonly #inFlight = new Set<Promise<void>>()
  readonly #inFlightByEndpoint = new Map<string, number>()
  /** Endpoints that have as much under way as they may. The end of an attempt makes room for more. */
  readonly #full = new Set<string>()
  /** Whether something due was left out because this replica had no room. */
  #leftOut = false
  #stopped = false
  #healthy = true

  constructor(context: SchedulerContext) {
    this.#context = context
    this.#recorder = new Recorder(context)
    const { log } = context
    this.#loop = new Loop({ name: 'the delivery scheduler', log, everyMs: lookAtAllEveryMs, run: () => this.#look() })
  }

  start(): void {
    this.#loop.start()
  }

  /** Something of this endpoint may be due now: look at once. */
  nudge(endpointId: string): void {
    this.#wakeups.nudge(endpointId)
  }

  ready(): boolean {
    return this.#healthy
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#loop.stop()
    await Promise.all(this.#inFlight)
  }

  async #look(): Promise<void> {
    if (this.#stopped) return
    const room = this.#context.concurrency - this.#inFlight.size
    if (room <= 0) {
      this.#leftOut = true
      return
    }
    try {
      const only = this.#wakeups.take()
      const { leases, endpointIds, secretsOf, busy } = await this.#context.db.transaction(
        (db) => this.#lease(db, only, room),
        { readsFirst: true },
      )
      for (const lease of leases) this.#begin(lease, secretsOf)
      if (leases.length >= room) this.#leftOut = true
      for (const endpointId of endpointIds) this.#markWhetherFull(endpointId, leases)
      this.#wakeups.lookAgain(busy)
      this.#healthy = true
    } catch (error) {
      this.#healthy = false
      this.#wakeups.takeAllNext()
      throw error
    }
  }

  /** @param only these endpoints; null looks at all */
  async #lease(db: Transaction, only: readonly string[] | null, room: number): Promise<Taken> {
    const { clock, box, leaseMs, breaker: settings } = this.#context
    const { locked, busy, now } = await lockDueEndpoints(db, { only, endpointsMax: endpointsPerLookMax })
    if (locked.length === 0) return { leases: [], endpointIds: [], secretsOf: () => [], busy }
    const resumed = new Map<string, Endpoint>()
    const endpoints = locked.map((row) => {
      const endpoint = toEndpoint(row, settings)
      const breaker = afterPause(endpoint.breaker, now)
      if (breaker !== endpoint.breaker) resumed.set(row.id, { ...endpoint, breaker })
      return { id: row.id, url: row.url as string, concurrency: breaker.concurrency }
    })
    const endpointIds = endpoints.map(({ id }) => id)
    const lease = () =>
      Promise.all([
        leaseDeliveries(db, { endpoints, deliveriesMax: room, leaseId: randomUUID(), leaseMs }),
        loadSecrets(db, endpointIds, clock.now()),
        saveEndpoints(db, resumed, settings),
      ])
    // A lease that is lost with PostgreSQL is taken again: a receiver may hear twice of what is sent just then.
    const [leases, secrets] = await db.commitWith(lease, false)
    return { leases, endpointIds, secretsOf: openSecrets(secrets, box), busy }
  }

  #markWhetherFull(endpointId: string, leases: readonly Lease[]): void {
    const taken = leases.filter((lease) => lease.endpointId === endpointId)
    const [first] = taken
    // Everything that was due is under way.
    if (first !== undefined && taken.length < first.slots) return
    this.#full.add(endpointId)
    // Another replica has the slots, or they have just been given back. No attempt of this replica will end and wake
    // the scheduler.
    if (!this.#inFlightByEndpoint.has(endpointId)) this.#wakeups.lookAgain([endpointId])
  }

  #begin(lease: Lease, secretsOf: SecretsOf): void {
    const { endpointId, deliveryId } = lease
    this.#inFlightByEndpoint.set(endpointId, (this.#inFlightByEndpoint.get(endpointId) ?? 0) + 1)
    const task = this.#attempt(lease, secretsOf)
      .catch((error) =>
        this.#context.log.error(
          { err: error, deliveryId },
          'a delivery attempt failed in this service; it is made again when its lease ends',
        ),
      )
      .finally(() => {
        this.#inFlight.delete(task)
        this.#release(endpointId)
      })
    this.#inFlight.add(task)
  }

  #release(endpointId: string): void {
    const left = (this.#inFlightByEndpoint.get(endpointId) ?? 1) - 1
    if (left > 0) this.#inFlightByEndpoint.set(endpointId, left)
    else this.#inFlightByEndpoint.delete(endpointId)
    if (this.#full.delete(endpointId)) this.#wakeups.nudge(endpointId)
    if (this.#leftOut) {
      this.#leftOut = false
      this.#wakeups.lookAtAll()
    }
  }

  async #attempt(lease: Lease, secretsOf: SecretsOf): Promise<void> {
    const { db, clock, send, log } = this.#context
    const { deliveryId, eventId, endpointId, url, number } = lease
    const body = openBody(db.vault, lease)
    const startedAt = clock.now()
    const headers = signatureHeaders({ eventId, body, secrets: secretsOf(endpointId), now: startedAt })
    const outcome = await observeAttempt(lease, () => send({ endpointId, url, headers, body }))
    const { responseStatus: status, durationMs, error } = outcome
    const said = { deliveryId, eventId, attempt: number, status, durationMs, error }
    // Each attempt is a row; a line for each that went well would be most of the log.
    if (error === null) log.debug(said, 'a webhook was delivered')
    else log.info(said, 'a webhook was not delivered')
    for (const due of await this.#record({ lease, startedAt, outcome }))
      this.#wakeups.nudgeAt(endpointId, due.getTime() - clock.now().getTime())
  }

  /** The receiver has replied. That must be recorded, even if PostgreSQL is unavailable for a minute. */
  #record(attempt: MadeAttempt): Promise<NextDue> {
    return retry(() => this.#recorder.record(attempt), {
      pauseMs: recordRetryMs,
      while: (err) => {
        const { deliveryId } = attempt.lease
        if (!this.#stopped)
          this.#context.log.warn({ err, deliveryId }, 'a delivery attempt could not be recorded; that is tried again')
        return !this.#stopped
      },
    })
  }
}

/** Some deliveries fall due without a nudge: another replica's retries, a lost lease. Looking at everything finds them. */
const lookAtAllEveryMs = 1_000
/** What is due later than this gets no timer: the look at everything finds it. */
const timerMaxMs = 60_000
/** How soon an endpoint that another transaction has locked is looked at again. */
const lookAgainMs = 50

/**
 * Collects the endpoints that the scheduler has to look at next. Each nudge wakes the scheduler; nudges that come
 * meanwhile are handled together.
 */
class Wakeups {
  readonly #wake: () => void
  readonly #nudged = new Set<string>()
  readonly #again = new Set<string>()
  #lookedAtAllMs = Number.NEGATIVE_INFINITY

  constructor(wake: () => void) {
    this.#wake = wake
  }

  nudge(id: string): void {
    this.#nudged.add(id)
    this.#wake()
  }

  nudgeAt(id: string, inMs: number): void {
    if (inMs > timerMaxMs) return
    // One millisecond late rather than early: a delivery that is not due yet would wait for the next look at
    // everything.
    setTimeout(() => this.nudge(id), Math.max(0, inMs) + 1).unref()
  }

  /** One timer for all of them, so that endpoints that are locked for long cause little work. */
  lookAgain(ids: readonly string[]): void {
    if (this.#again.size === 0 && ids.length > 0) setTimeout(() => this.#nudgeAgain(), lookAgainMs).unref()
    for (const id of ids) this.#again.add(id)
  }

  lookAtAll(): void {
    this.takeAllNext()
    this.#wake()
  }

  /** Makes the next look one at everything, because what was taken before was not looked at. */
  takeAllNext(): void {
    this.#lookedAtAllMs = Number.NEGATIVE_INFINITY
  }

  /**
   * What to look at now: the endpoints that were nudged. Null means all: when there was no nudge, or when it is time
   * for it.
   */
  take(): readonly string[] | null {
    const nowMs = performance.now()
    const ids = [...this.#nudged]
    this.#nudged.clear()
    if (ids.length > 0 && nowMs - this.#lookedAtAllMs < lookAtAllEveryMs) return ids
    this.#lookedAtAllMs = nowMs
    return null
  }

  #nudgeAgain(): void {
    for (const id of this.#again) this.#nudged.add(id)
    this.#again.clear()
    this.#wake()
  }
}
