import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import {
  type Background,
  type Clock,
  inTransaction,
  type Logger,
  type SecretBox,
  sqlOf,
} from '@backoffice/service-runtime'
import type { MikroORM } from '@mikro-orm/postgresql'
import { afterPause } from '../domain/breaker.ts'
import { type SigningSecret, signatureHeaders } from '../domain/signature-headers.ts'
import type { Send } from '../sending/sender.ts'
import { breakerColumns, lockEndpoint } from '../storage/endpoints.ts'
import { type DueEndpoint, type Lease, leaseDeliveries, lockDueEndpoints } from '../storage/leases.ts'
import { openSecrets } from '../storage/secrets.ts'
import { measureAttempt, measureDeliveries } from './measure.ts'
import { type RecordParts, recordAttempt } from './record.ts'
import { traceAttempt } from './trace.ts'
import { Wakeups } from './wakeups.ts'

/** What no nudge told of (another replica's retries, a lost lease) is found by looking this often. */
const lookEveryMs = 1_000
/** A backlogged endpoint without a free slot is looked at again after so long, if no attempt ends before. */
const lookAgainMs = 50
/** A lease outlives the attempt by so much, for writing the outcome. */
const leaseMarginMs = 5_000
const endpointsPerLookMax = 500
const recordRetryMs = 500

export interface SchedulerOptions extends RecordParts {
  readonly orm: MikroORM
  readonly clock: Clock
  readonly log: Logger
  readonly box: SecretBox
  readonly send: Send
  readonly deadlineMs: number
  /** Deliveries under way at once in this replica. */
  readonly concurrency: number
}

/** Leases due deliveries, sends them, and records what came of it. Replicas share the work through the leases. */
export class Scheduler implements Background {
  readonly #options: SchedulerOptions
  readonly #inFlight = new Set<Promise<void>>()
  readonly #wakeups = new Wakeups()
  readonly #inFlightByEndpoint = new Map<string, number>()
  /** Endpoints that have as much under way as they may: the end of an attempt makes room for more. */
  readonly #full = new Set<string>()
  /** Something was left out because this replica had no room. */
  #leftOut = false
  #running: Promise<void> | undefined
  #stopMeasuring: (() => void) | undefined
  #stopped = false
  #healthy = true

  constructor(options: SchedulerOptions) {
    this.#options = options
  }

  start(): void {
    this.#stopMeasuring = measureDeliveries(() => sqlOf(this.#options.orm.em.fork()))
    this.#running = this.#loop()
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
    this.#wakeups.close()
    this.#stopMeasuring?.()
    await this.#running
    await Promise.all(this.#inFlight)
  }

  async #loop(): Promise<void> {
    while (!this.#stopped) {
      const only = await this.#wakeups.next(lookEveryMs)
      if (this.#stopped) return
      try {
        await this.#leaseAndSend(only)
        this.#healthy = true
      } catch (error) {
        this.#healthy = false
        this.#options.log.warn({ err: error }, 'could not look for due deliveries; looking again soon')
        await wait(Math.min(lookEveryMs, 250))
        this.#wakeups.lookAtAll()
      }
    }
  }

  /** @param only these endpoints; null looks at all */
  async #leaseAndSend(only: readonly string[] | null): Promise<void> {
    const { concurrency, clock, orm } = this.#options
    const room = concurrency - this.#inFlight.size
    if (room <= 0) {
      this.#leftOut = true
      return
    }
    const now = clock.now()
    const { leases, endpoints } = await inTransaction(orm, (em) => this.#lease(em, { only, room, now }))
    const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]))
    for (const lease of leases) this.#begin(lease, byId.get(lease.endpointId) as DueEndpoint)
    if (leases.length >= room) this.#leftOut = true
    for (const { id } of endpoints) this.#noteWhetherFull(id, leases)
  }

  #noteWhetherFull(endpointId: string, leases: readonly Lease[]): void {
    const taken = leases.filter((lease) => lease.endpointId === endpointId)
    const [first] = taken
    // Everything that was due is under way.
    if (first !== undefined && taken.length < first.slots) return
    this.#full.add(endpointId)
    // Its slots are another replica's, or were given back this very moment: nothing of ours will end and tell.
    if (!this.#inFlightByEndpoint.has(endpointId)) this.#wakeups.nudgeAt(endpointId, lookAgainMs)
  }

  async #lease(
    em: Parameters<typeof lockEndpoint>[0],
    { only, room, now }: { only: readonly string[] | null; room: number; now: Date },
  ): Promise<{ leases: Lease[]; endpoints: DueEndpoint[] }> {
    const { deadlineMs, breaker: settings } = this.#options
    const connection = sqlOf(em)
    const { concurrencyMax } = settings
    const endpoints = await lockDueEndpoints(connection, {
      only,
      endpointsMax: endpointsPerLookMax,
      concurrencyMax,
      now,
    })
    if (endpoints.length === 0) return { leases: [], endpoints }
    const allowed = []
    for (const { id, url, breaker } of endpoints) {
      const resumed = afterPause(breaker, now)
      if (resumed !== breaker) {
        const row = await lockEndpoint(em, id)
        if (row !== null) em.assign(row, breakerColumns(resumed, settings))
      }
      allowed.push({ id, url, concurrency: resumed.concurrency })
    }
    const until = new Date(now.getTime() + deadlineMs + leaseMarginMs)
    const leaseId = randomUUID()
    const leases = await leaseDeliveries(connection, { endpoints: allowed, deliveriesMax: room, leaseId, now, until })
    return { leases, endpoints }
  }

  #begin(lease: Lease, endpoint: DueEndpoint): void {
    const { endpointId, deliveryId } = lease
    this.#inFlightByEndpoint.set(endpointId, (this.#inFlightByEndpoint.get(endpointId) ?? 0) + 1)
    const task = this.#attempt(lease, endpoint)
      .catch((error) => this.#options.log.error({ err: error, deliveryId }, 'an attempt broke; its lease will end'))
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

  async #attempt(lease: Lease, endpoint: DueEndpoint): Promise<void> {
    const { clock, box, send, log } = this.#options
    const secrets: SigningSecret[] = openSecrets(endpoint.secrets, endpoint.id, box)
    const startedAt = clock.now()
    const headers = signatureHeaders({ eventId: lease.eventId, body: lease.body, secrets, now: startedAt })
    const outcome = await traceAttempt(lease, () => send({ url: lease.url, headers, body: lease.body }))
    measureAttempt(outcome)
    log.info(
      {
        deliveryId: lease.deliveryId,
        eventId: lease.eventId,
        attempt: lease.number,
        status: outcome.responseStatus,
        durationMs: outcome.durationMs,
        error: outcome.error,
      },
      outcome.error === null ? 'delivered' : 'an attempt failed',
    )
    const nextDue = await this.#record({ lease, startedAt, outcome })
    if (nextDue !== null) this.#wakeups.nudgeAt(lease.endpointId, nextDue.getTime() - clock.now().getTime())
  }

  /** The receiver has answered: that must be written down, even if PostgreSQL is away for a minute. */
  async #record(attempt: Parameters<typeof recordAttempt>[1]): Promise<Date | null> {
    for (;;) {
      try {
        return await recordAttempt(this.#options, attempt)
      } catch (error) {
        if (this.#stopped) throw error
        this.#options.log.warn(
          { err: error, deliveryId: attempt.lease.deliveryId },
          'could not record an attempt; trying again',
        )
        await wait(recordRetryMs)
      }
    }
  }
}
