import {
  arrivalsMax,
  type DeliveryStory,
  type HomologationCheck,
  invalid,
  operations,
  Rejection,
  refuseUnlessSeen,
  type SetAsideSummary,
} from '@backoffice/contracts'
import { hourMs } from '@backoffice/process'
import {
  type Fragment,
  fitting,
  handle,
  type Reaction,
  type ReadDb,
  readNow,
  sql,
  toPage,
  withIsoTimes,
} from '@backoffice/service-runtime'
import { endpointId } from '../endpoints/endpoint.ts'
import { lockSeen } from '../endpoints/records.ts'
import { duration, outcomeSentence } from './delivery.ts'
import { readArrivals } from './hours.ts'
import {
  countDeliveries as countFound,
  countSetAside,
  type DeliveryStoryRow,
  findDelivery,
  listDeliveries as readDeliveries,
  replayDeliveries,
  rescheduleDeliveries,
  rescheduleDelivery,
} from './records.ts'
import {
  bringBackSetAside,
  findSetAside,
  listSetAside as listMessages,
  rerunSetAside as rerunMessages,
  type SetAsideMessage,
} from './set-aside.ts'

function toStory({ body, openUntil, attemptLog, ...row }: DeliveryStoryRow, now: Date): DeliveryStory {
  return {
    ...withIsoTimes(row),
    outcome: outcomeSentence({ ...row, pausedBecause: pause(openUntil, now), now }),
    // Of very many attempts the latest.
    attemptLog: fitting(attemptLog.map(withIsoTimes).reverse()).reverse(),
    body: body.toString('utf8'),
  }
}

/** Why nothing is sent to an endpoint at the moment. */
function pause(openUntil: Date | null, now: Date): string | null {
  if (openUntil === null || openUntil <= now) return null
  return `the receiver fails again and again and is left alone for ${duration(now, openUntil)}`
}

export const listDeliveries = handle(operations.webhooks.listDeliveries, async ({ input }, { db }) => {
  const { limit } = input
  const rows = await readDeliveries(db, { ...input, limit: limit + 1 })
  return toPage(rows.map(withIsoTimes), limit, ({ id }) => id)
})

export const countDeliveries = handle(operations.webhooks.countDeliveries, ({ input }, { db }) => countFound(db, input))

export const listDeliveryHours = handle(operations.webhooks.listDeliveryHours, async ({ input }, { db }) => {
  const { environment, operatorIds = null } = input
  const last = Math.floor((await readNow(db)).getTime() / hourMs)
  const hours = Array.from({ length: arrivalsMax.hours }, (_, ago) => new Date((last - ago) * hourMs)).reverse()
  const found = await readArrivals(db, environment, operatorIds, hours)
  const total = (name: 'events' | 'inTime') =>
    hours.map((_, place) => found.reduce((sum, row) => sum + (row[name][place] ?? 0), 0))
  const data = found.slice(0, operatorIds === null ? arrivalsMax.operators : arrivalsMax.named)
  return { hours: hours.map((hour) => hour.toISOString()), events: total('events'), inTime: total('inTime'), data }
})

export const showDelivery = handle(operations.webhooks.showDelivery, async ({ input }, { db, now }) => {
  const found = await findDelivery(db, input.id)
  if (found === null) throw new Rejection('DELIVERY_NOT_FOUND')
  return toStory(found, now)
})

export const resendDelivery = handle(operations.webhooks.resendDelivery, {
  async execute({ input }, { db }) {
    const rescheduled = await rescheduleDelivery(db, input.id)
    if (rescheduled === null) throw new Rejection('DELIVERY_NOT_FOUND')
    const { sends, ...delivery } = rescheduled
    refuseUnlessSeen({ id: input.id }, input.seen, { type: delivery.type })
    if (!sends) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    return withIsoTimes(delivery)
  },
})

export const resendDeliveries = handle(operations.webhooks.resendDeliveries, {
  async execute({ input }, { db }) {
    const endpoint = await lockSeen(db, input)
    if (!endpoint.enabled || endpoint.url == null) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    const scheduled = await rescheduleDeliveries(db, { ...input, endpointId: endpoint.id })
    return { scheduled, left: input.ids.length - scheduled }
  },
})

const ratePerMinuteDefault = 300

export const replayEvents = handle(operations.webhooks.replayEvents, {
  async execute({ input }, { db }) {
    const endpoint = await lockSeen(db, input)
    if (!endpoint.enabled || endpoint.url == null) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    if (input.after === undefined) await bringBackSetAside(db, input)
    const intervalMs = 60_000 / (input.ratePerMinute ?? ratePerMinuteDefault)
    return withIsoTimes(await replayDeliveries(db, { ...input, endpointId: endpoint.id, intervalMs }))
  },
})

interface DeliveryProof {
  readonly name: HomologationCheck
  readonly at: Date
  readonly proof: string
}

/** What the deliveries of an endpoint prove, by the newest ones that do. An index has those that can. */
function findProofs(db: ReadDb, endpointId: string): Promise<DeliveryProof[]> {
  const newest = (check: HomologationCheck, condition: Fragment) => sql`(
    select ${check} as name, d.finished_at as at, d.id as proof from delivery d
    where d.endpoint_id = ${endpointId} and d.state = 'delivered' and ${condition}
    order by d.received_at desc limit 1
  )`
  const isTest = sql`d.type = 'webhook.test'`
  const wasRefused = sql`exists (select from attempt a where a.delivery_id = d.id and a.error is not null)`
  // While the former secret signs too, a receiver may know that one alone.
  const formerEnded = sql`(
    select max(former.expires_at) from secret former where former.endpoint_id = ${endpointId}
      and exists (select from secret current where current.endpoint_id = former.endpoint_id and current.expires_at is null)
  )`
  return db<DeliveryProof>`
    select name, at, proof from (
      ${newest('webhookTested', isTest)}
      union all ${newest('webhookRedelivered', sql`d.attempts_total > 1 and ${wasRefused}`)}
      union all ${newest('webhookSecretRotated', sql`${isTest} and d.received_at >= ${formerEnded}`)}
    ) proofs
  `
}

export const readHomologation = handle(operations.webhooks.readHomologation, async ({ scope }, { db }) => {
  const proofs = await findProofs(db, endpointId({ operatorId: scope.operatorId, environment: 'sandbox' }))
  return { proofs: proofs.map(({ name: check, ...proof }) => withIsoTimes({ check, ...proof })) }
})

/** @returns null for what is no id of a message */
const messageId = (text: string): bigint | null => (/^[1-9]\d{0,17}$/.test(text) ? BigInt(text) : null)

/** A message that was set aside, with what can be read of its event. */
function summaryOfSetAside({ id, subject, fault, setAsideAt, payload }: SetAsideMessage): SetAsideSummary {
  const { id: eventId = null, operatorId = null } = fieldsOf(payload)
  const message = { id: String(id), subject, fault, setAsideAt }
  return { ...withIsoTimes(message), eventId: textOf(eventId), operatorId: textOf(operatorId) }
}

function fieldsOf(payload: string): { readonly id?: unknown; readonly operatorId?: unknown } {
  try {
    return JSON.parse(payload) ?? {}
  } catch {
    return {}
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export const listSetAside = handle(operations.webhooks.listSetAside, async ({ input }, { db }) => {
  const { after, limit } = input
  const place = after === undefined ? 0n : messageId(after)
  if (place === null) throw invalid('body', '/after', 'is no id of a message')
  const messages = await listMessages(db, { after: place, limit: limit + 1 })
  return toPage(messages.map(summaryOfSetAside), limit, ({ id }) => id)
})

/** In characters: a payload may be as long as a message of the broker, and then does not fit into another one. */
const payloadShownMax = 65_536

export const showSetAside = handle(operations.webhooks.showSetAside, async ({ input }, { db }) => {
  const id = messageId(input.id)
  const message = id === null ? null : await findSetAside(db, id)
  if (message === null) throw new Rejection('MESSAGE_NOT_FOUND')
  return { ...summaryOfSetAside(message), payload: message.payload.slice(0, payloadShownMax) }
})

/** The most that one run handles. */
const messagesMax = 500

export const rerunSetAside = (reaction: Reaction) =>
  handle(operations.webhooks.rerunSetAside, {
    async execute({ input }, { db, now, log }) {
      const id = input.id === undefined ? null : messageId(input.id)
      if (input.id !== undefined && (id === null || (await findSetAside(db, id)) === null))
        throw new Rejection('MESSAGE_NOT_FOUND')
      const run = await rerunMessages(reaction, { id, limit: messagesMax }, { db, now, log })
      return { ...run, remaining: await countSetAside(db) }
    },
  })
