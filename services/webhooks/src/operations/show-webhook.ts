import { operations, Rejection } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import type { WebhooksParts } from '../parts.ts'
import { describeEndpoint, findEndpoint } from '../storage/endpoints.ts'

export const showWebhook = ({ breaker: settings }: WebhooksParts) =>
  query(operations.webhooks.showWebhook, async ({ input }, { em, sql, now }) => {
    const endpoint = await findEndpoint(em, input)
    if (endpoint === null) throw new Rejection('OPERATOR_NOT_FOUND')
    return describeEndpoint(sql, endpoint, { settings, now })
  })
