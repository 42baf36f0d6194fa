import { operations, Rejection } from '@backoffice/contracts'
import { handle, withIsoTimes } from '@backoffice/service-runtime'
import { bringBackSetAside } from '../steps/set-aside.ts'
import { replayDeliveries } from '../storage/deliveries.ts'
import { lockEndpoint } from '../storage/endpoints.ts'

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
