import { apiVersion, type EventMessage, operations, Rejection, type Scope } from '@backoffice/contracts'
import { newId, posting, sqlOf } from '@backoffice/service-runtime'
import { signatureHeaders } from '../domain/signature-headers.ts'
import type { WebhooksParts } from '../parts.ts'
import { insertAttempt } from '../storage/attempts.ts'
import { insertTestDelivery } from '../storage/deliveries.ts'
import { findEndpoint } from '../storage/endpoints.ts'
import { loadSecrets, openSecrets } from '../storage/secrets.ts'

/** Each test holds a connection until the receiver answers, so one operator gets only so many at once. */
const testsAtOnceMax = 5

/** One attempt, made at once, outside of the schedule and of the breaker: it tells how things are now. */
export const testWebhook = ({ box, send }: WebhooksParts) => {
  const underWay = new Map<string, number>()
  return posting(operations.webhooks.testWebhook, async ({ scope }, { em, sql, now }) => {
    const endpoint = await findEndpoint(em, scope)
    if (endpoint?.url == null) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    const secrets = openSecrets(await loadSecrets(sql, endpoint.id, now), endpoint.id, box)
    if (secrets.length === 0) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    const running = underWay.get(endpoint.id) ?? 0
    if (running >= testsAtOnceMax) throw new Rejection('SERVICE_UNAVAILABLE')
    underWay.set(endpoint.id, running + 1)
    try {
      const event = testEvent(scope, now)
      const body = Buffer.from(JSON.stringify(event))
      const headers = signatureHeaders({ eventId: event.id, body, secrets, now })
      const outcome = await send({ url: endpoint.url, headers, body })
      await em.transactional(async (transaction) => {
        const connection = sqlOf(transaction as typeof em)
        const finishedAt = new Date(now.getTime() + outcome.durationMs)
        const deliveryId = await insertTestDelivery(connection, { event, body, outcome, now: finishedAt })
        const lease = { deliveryId, url: endpoint.url as string, number: 1 }
        await insertAttempt({ lease, startedAt: now, outcome }).execute(connection)
      })
      const { responseStatus, durationMs, error } = outcome
      return { eventId: event.id, delivered: error === null, responseStatus, durationMs, error }
    } finally {
      const left = (underWay.get(endpoint.id) ?? 1) - 1
      if (left > 0) underWay.set(endpoint.id, left)
      else underWay.delete(endpoint.id)
    }
  })
}

function testEvent({ environment, operatorId, brandId }: Scope, now: Date): EventMessage<'webhook.test'> {
  return {
    id: newId('evt'),
    type: 'webhook.test',
    apiVersion,
    environment,
    operatorId,
    brandId,
    createdAt: now.toISOString(),
    data: { message: 'This is a test delivery.' },
  }
}
