import { operations, Rejection } from '@backoffice/contracts'
import { handle, toPage, withIsoTimes } from '@backoffice/service-runtime'
import { lockEndpoint } from '../endpoints/records.ts'
import { findDelivery, listDeliveries as readDeliveries, replayDeliveries, rescheduleDelivery } from './records.ts'
import { bringBackSetAside } from './schedule-delivery.ts'
import { toStory } from './views.ts'

export const listDeliveries = handle(operations.webhooks.listDeliveries, async ({ input }, { db }) => {
  const { limit } = input
  const rows = await readDeliveries(db, { ...input, limit: limit + 1 })
  return toPage(rows.map(withIsoTimes), limit, ({ id }) => id)
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
    if (!sends) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    return withIsoTimes(delivery)
  },
})

const ratePerMinuteDefault = 300

export const replayEvents = handle(operations.webhooks.replayEvents, {
  async execute({ input }, { db }) {
    const endpoint = await lockEndpoint(db, input)
    if (!endpoint.enabled || endpoint.url == null) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    if (input.after === undefined) await bringBackSetAside(db, input)
    const replayed = await replayDeliveries(db, {
      endpointId: endpoint.id,
      since: input.since,
      until: input.until ?? null,
      states: input.states ?? ['failed', 'withheld'],
      type: input.type ?? null,
      after: input.after ?? null,
      intervalMs: 60_000 / (input.ratePerMinute ?? ratePerMinuteDefault),
    })
    return withIsoTimes(replayed)
  },
})
