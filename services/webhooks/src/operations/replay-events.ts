import { operations, Rejection } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { replayDeliveries } from '../storage/deliveries.ts'
import { endpointId } from '../storage/endpoint-id.ts'
import { lockEndpointOf } from '../storage/endpoints.ts'

const ratePerMinuteDefault = 300

export const replayEvents = command(operations.webhooks.replayEvents, {
  async execute({ input }, { em, sql, now }) {
    const endpoint = await lockEndpointOf(em, input)
    if (!endpoint.enabled || endpoint.url == null) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    return replayDeliveries(sql, {
      endpointId: endpointId(input),
      since: input.since,
      until: input.until ?? null,
      states: input.states ?? ['failed', 'withheld'],
      type: input.type ?? null,
      intervalMs: 60_000 / (input.ratePerMinute ?? ratePerMinuteDefault),
      now,
    })
  },
})
