import { setTimeout as wait } from 'node:timers/promises'
import { operations } from '@backoffice/contracts'
import { type Logger, limitsMs, newId } from '@backoffice/process'
import {
  Batcher,
  batchFaultOf,
  type Database,
  type Db,
  readNow,
  sql,
  type Transaction,
} from '@backoffice/service-runtime'
import { byService, insertAudit } from '@backoffice/team-access'
import {
  type AttemptedDelivery,
  type AttemptOutcome,
  type RecordedChange,
  recordedChange,
} from '../deliveries/delivery.ts'
import { withholdDeliveries } from '../deliveries/records.ts'
import { type Lease, storedHead } from '../deliveries/schedule-delivery.ts'
import {
  afterAttemptAt,
  type BreakerSettings,
  type DisablingRule,
  type Endpoint,
  isAtRest,
} from '../endpoints/endpoint.ts'
import { type EndpointColumns, endpointColumns, saveEndpoints, toEndpoint } from '../endpoints/records.ts'

export interface RecorderContext {
  readonly db: Database
  readonly log: Logger
  readonly random: () => number
  readonly breaker: BreakerSettings
  readonly disabling: DisablingRule
  /** Attempts under way at once in this replica. */
  readonly concurrency: number
}

export interface MadeAttempt {
  readonly lease: Pick<Lease, 'deliveryId' | 'endpointId' | 'leaseId' | 'type' | 'url' | 'number'>
  readonly startedAt: Date
  readonly outcome: AttemptOutcome
}

/** An attempt with its change of the delivery; null when it changes nothing. */
interface RecordedAttempt extends MadeAttempt {
  readonly change: RecordedChange | null
}

/** Another transaction has locked the row. */
type LockedElsewhere = 'busy'

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

const attemptFacts = `
  started_at timestamptz, duration_ms int, url text, response_status int, response_head text, sealed_response_head text,
  error text
`
const attemptColumns = `delivery_id text, number int, ${attemptFacts}` as const
const changeColumns = 'state text, next_attempt_at timestamptz, finished_at timestamptz'

/**
 * Locks the deliveries of attempts, by id, without waiting for any. Each is there once at most.
 * @returns no entry for a delivery that does not exist any more
 */
async function lockDeliveries(
  db: Db,
  attempts: readonly MadeAttempt[],
): Promise<ReadonlyMap<string, AttemptedDelivery | LockedElsewhere>> {
  const leaseIds = new Map(attempts.map(({ lease }) => [lease.deliveryId, lease.leaseId]))
  const rows = await db<{ id: string; leaseId: string | null } & Omit<AttemptedDelivery, 'held'>>`
    select d.id, d.state, d.next_attempt_at, d.finished_at, d.attempts_made,
      (select l.lease_id from lease l where l.endpoint_id = d.endpoint_id and l.delivery_id = d.id) as lease_id
    from delivery d where d.id = any(${[...leaseIds.keys()]}::text[]) order by d.id for no key update skip locked
  `
  // Not joined in the statement: a plan for few of them takes the square of many.
  const found = new Map<string, AttemptedDelivery | LockedElsewhere>(
    rows.map(({ id, leaseId, ...row }) => [id, { ...row, held: leaseId === leaseIds.get(id) }]),
  )
  const missing = [...leaseIds.keys()].filter((id) => !found.has(id))
  if (missing.length > 0) {
    const busy = await db<{ id: string }>`select id from delivery where id = any(${missing}::text[])`
    for (const { id } of busy) found.set(id, 'busy')
  }
  return found
}

/**
 * Locks the endpoints that attempts change, by id, without waiting for any. These are the endpoints with a failure, and
 * those whose breaker is not at rest.
 */
async function lockLearners(
  db: Db,
  attempts: readonly MadeAttempt[],
): Promise<ReadonlyMap<string, EndpointColumns | LockedElsewhere>> {
  const ids = (some: readonly MadeAttempt[]) => [...new Set(some.map(({ lease }) => lease.endpointId))]
  const rows = await db<{ learnerId: string } & (EndpointColumns | { id: null })>`
    with learner as (
      select id from endpoint
      where id = any(${ids(attempts)}::text[]) and (breaker_state <> 'closed' or consecutive_failures > 0
        or id = any(${ids(attempts.filter(({ outcome }) => outcome.error !== null))}::text[]))
    ), locked as (
      select ${endpointColumns} from endpoint where id in (select id from learner)
      order by id for no key update skip locked
    )
    select learner.id as learner_id, locked.* from learner left join locked on locked.id = learner.id
  `
  return new Map(rows.map((row) => [row.learnerId, row.id === null ? 'busy' : row]))
}

/** Logs attempts, once per number, ends their leases, and writes the changes of their deliveries, whose rows are locked. */
async function saveAttempts(db: Db, attempts: readonly RecordedAttempt[]): Promise<void> {
  if (attempts.length === 0) return
  const rows = attempts.map(({ lease, startedAt, outcome, change }) => ({
    ...{ ...lease, startedAt, ...outcome },
    ...storedHead(db.vault, lease.type, lease, outcome.responseHead),
    ...(change ?? { state: null, nextAttemptAt: null, finishedAt: null }),
  }))
  await db`
    with made as (
      select * from ${sql.unnest('m', rows, `endpoint_id text, lease_id text, ${attemptColumns}, ${changeColumns}`)}
    ), ended as (
      delete from lease l using made m
      where l.endpoint_id = m.endpoint_id and l.delivery_id = m.delivery_id and l.lease_id = m.lease_id
    ), logged as (
      insert into attempt (${sql.columns(attemptColumns)}) select ${sql.columns(attemptColumns)} from made
      on conflict (delivery_id, number) do update set ${sql.assignments('excluded', attemptFacts)}
    )
    update delivery d set ${sql.assignments('m', changeColumns)}, attempts_made = d.attempts_made + 1,
      attempts_total = greatest(d.attempts_total, m.number),
      last_response_status = m.response_status, last_error = m.error
    from made m where d.id = m.delivery_id and m.state is not null
  `
}
