import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import type { BreakerSettings } from '../domain/breaker.ts'
import { disabled } from '../domain/endpoint.ts'
import { withholdDeliveries } from '../storage/deliveries.ts'
import { changeEndpoint, lockEndpoint, toEndpoint } from '../storage/endpoints.ts'
import { describeEndpoint } from '../views/endpoint.ts'

export const disableWebhook = (settings: BreakerSettings) =>
  handle(operations.webhooks.disableWebhook, {
    async execute({ input }, { db, now, changed }) {
      const row = await lockEndpoint(db, input)
      if (row.enabled) changed({ field: 'enabled', before: 'true', after: 'false' })
      await changeEndpoint(db, row, disabled(toEndpoint(row, settings), { reason: input.reason, now }), settings)
      await withholdDeliveries(db, row.id, now)
      return describeEndpoint(db, row, { settings, now })
    },
  })
