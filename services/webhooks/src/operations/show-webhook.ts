import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import type { BreakerSettings } from '../domain/breaker.ts'
import { findEndpoint } from '../storage/endpoints.ts'
import { describeEndpoint } from '../views/endpoint.ts'

export const showWebhook = (settings: BreakerSettings) =>
  handle(operations.webhooks.showWebhook, async ({ input }, { db, now }) => {
    const endpoint = await findEndpoint(db, input)
    if (endpoint === null) throw new Rejection('OPERATOR_NOT_FOUND')
    return describeEndpoint(db, endpoint, { settings, now })
  })
