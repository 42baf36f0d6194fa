import { setTimeout as wait } from 'node:timers/promises'
import { operations } from '@backoffice/contracts'
import { type Logger, limitsMs, newId } from '@backoffice/process'
import { Batcher, batchFaultOf, type Database, type Db, readNow, type Transaction } from '@backoffice/service-runtime'
import { byService, insertAudit } from '@backoffice/team-access'
import { recordedChange } from '../deliveries/delivery.ts'
import {
  type LockedElsewhere,
  lockDeliveries,
  lockLearners,
  type MadeAttempt,
  type RecordedAttempt,
  saveAttempts,
} from '../deliveries/queue.ts'
import { withholdDeliveries } from '../deliveries/records.ts'
import {
  afterAttemptAt,
  type BreakerSettings,
  type DisablingRule,
  type Endpoint,
  isAtRest,
} from '../endpoints/endpoint.ts'
import { saveEndpoints, toEndpoint } from '../endpoints/records.ts'

export interface RecorderContext {
  readonly db: Database
  readonly log: Logger
  readonly random: () => number
  readonly breaker: BreakerSettings
  readonly disabling: DisablingRule
  /** Attempts under way at once in this replica. */
  readonly concurrency: number
}

/** When something of this endpoint can be due next because of the recorded attempt. */
export type NextDue = readonly Date[]

const batchMax = 200
const busyRetryMs = 50

/**
 * Records the outcomes of attempts: the next states of their deliveries, the log, and the endpoints' breakers. Attempts
 * that end together are recorded in one transaction. An attempt whose rows are locked waits by itself, so that an
 * endpoint which is locked for long delays no other.
 */
export class Recorder {
  readonly #context: RecorderContext
  readonly #batcher: Batcher<MadeAttempt, NextDue | LockedElsewhere>

  constructor(context: RecorderContext) {
    this.#context = context
    this.#batcher = new Batcher({
      batchMax,
      queueMax: context.concurrency,
      conflictKeys: ({ lease }) => [lease.deliveryId],
      faultOf: batchFaultOf,
      run: (attempts, { alone }) =>
        context.db.transaction((db) => this.#recordTogether(db, attempts, alone), {
          // For the few rows that a batch does not lock first. A batch that waits longer runs again attempt by attempt.
          lockTimeoutMs: limitsMs.lock,
          readsFirst: true,
        }),
    })
  }

  async record(attempt: MadeAttempt): Promise<NextDue> {
    for (;;) {
      const recorded = await this.#batcher.add(attempt)
      if (recorded !== 'busy') return recorded
      await wait(busyRetryMs)
    }
  }

  async #recordTogether(
    db: Transaction,
    attempts: readonly MadeAttempt[],
    alone: boolean,
  ): Promise<(NextDue | LockedElsewhere)[]> {
    const { random, breaker: settings, disabling } = this.#context
    const [now, learners, deliveries] = await Promise.all([
      readNow(db),
      lockLearners(db, attempts),
      lockDeliveries(db, attempts),
    ])
    const before = new Map<string, Endpoint>()
    for (const [id, row] of learners) if (row !== 'busy') before.set(id, toEndpoint(row, settings))
    const after = new Map(before)
    const recorded = new Map<MadeAttempt, RecordedAttempt>()

    for (const attempt of attempts) {
      const { deliveryId, endpointId, url } = attempt.lease
      const delivery = deliveries.get(deliveryId)
      if (delivery === 'busy' || learners.get(endpointId) === 'busy') continue
      const delaying = { baseMs: settings.backoffBaseMs, now, random: random() }
      const change = delivery === undefined ? null : recordedChange(delivery, attempt.outcome, delaying)
      recorded.set(attempt, { ...attempt, change })
      const endpoint = after.get(endpointId)
      const learning = { settings, disabling, now, random: random() }
      const made = { url, ...attempt.outcome }
      if (endpoint !== undefined && attempt.outcome.connectionLost !== true)
        after.set(endpointId, afterAttemptAt(endpoint, made, learning))
    }

    const disabled = [...after].filter(([id, { enabled }]) => !enabled && before.get(id)?.enabled === true)
    // Withholding a page of its backlog takes longer than the rest, so no other attempt may be in that transaction.
    if (disabled.length > 0 && !alone) throw new Error('an attempt that disables its endpoint is recorded alone')
    const kept = [...recorded.values()].filter(({ lease }) => deliveries.has(lease.deliveryId))
    const save = () => Promise.all([saveAttempts(db, kept), saveEndpoints(db, after, settings)])
    await (disabled.length === 0 ? db.commitWith(save) : save())
    for (const [id, endpoint] of disabled) await this.#withhold(db, id, endpoint, now)
    return attempts.map((attempt) => {
      const { endpointId } = attempt.lease
      const made = recorded.get(attempt)
      return made === undefined ? 'busy' : nextDue(made, before.get(endpointId), after.get(endpointId), now)
    })
  }

  /**
   * Withholds what waits for an endpoint that was just disabled. The delivery of this attempt has been written already.
   */
  async #withhold(db: Db, endpointId: string, { disabledReason }: Endpoint, now: Date): Promise<void> {
    const withheld = await withholdDeliveries(db, endpointId, now)
    const id = newId('aud')
    const what = {
      actor: 'webhooks',
      operation: operations.webhooks.disableWebhook.id,
      operationId: id,
      subject: endpointId,
    }
    await insertAudit(db, [{ id, ...what, ...byService, reason: disabledReason, input: { withheld } }], now)
    this.#context.log.error(
      { endpoint: endpointId, withheld },
      'a webhook endpoint was disabled, because it failed for days',
    )
  }
}

/** @param before the endpoint as it was, if this attempt or one that ended together with it changes it */
function nextDue(
  { lease, outcome, change }: RecordedAttempt,
  before: Endpoint | undefined,
  after: Endpoint | undefined,
  now: Date,
): NextDue {
  if (outcome.error === null) {
    // While the endpoint recovers, more may leave than a moment ago.
    return before === undefined || isAtRest(before.breaker) ? [] : [now]
  }
  // A retry that is due during a pause leaves at its end, and a pause that ends before the retry lets others leave.
  const probeAt = after?.url === lease.url ? after.breaker.openUntil : null
  return [change?.nextAttemptAt, probeAt].filter((at) => at != null)
}
