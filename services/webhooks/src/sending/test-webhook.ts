// Operations.

import { apiVersion, type EventMessage, operations, Rejection, type Scope } from '@backoffice/contracts'
import { handle, type Tools } from '@backoffice/service-runtime'
import type { SecretBox } from '@backoffice/vault'
import { insertTestDelivery } from '../deliveries/records.ts'
import { signatureHeaders } from '../endpoints/endpoint.ts'
import { decryptSecrets, findEndpoint, loadSecrets } from '../endpoints/records.ts'
import type { Send } from './sender.ts'

/** Each test waits for the receiver's reply, so one operator may run only so many at once. */
const testsAtOnceMax = 5

/** Makes one attempt at once, whatever schedule and breaker say, because it shows how the receiver is now. */
export const testWebhook = ({ box, send }: { readonly box: SecretBox; readonly send: Send }) => {
  const underWay = new Map<string, number>()
  return handle(operations.webhooks.testWebhook, async ({ scope }, { db, now, newId }) => {
    const endpoint = await findEndpoint(db.reader, scope)
    if (endpoint?.url == null) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    const { id: endpointId, url } = endpoint
    const secrets = decryptSecrets(await loadSecrets(db.reader, [endpointId], now), box)
    if (secrets.length === 0) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    const running = underWay.get(endpointId) ?? 0
    if (running >= testsAtOnceMax) throw new Rejection('RATE_LIMITED')
    underWay.set(endpointId, running + 1)
    try {
      const event = testEvent(scope, { now, newId })
      const body = Buffer.from(JSON.stringify(event))
      const headers = signatureHeaders({ eventId: event.id, body, secrets, now })
      const attempt = () => send({ endpointId, url, headers, body })
      const first = await attempt()
      const outcome = first.connectionLost === true ? await attempt() : first
      await insertTestDelivery(db, { event, body, url, startedAt: now, outcome })
      const { responseStatus, durationMs, error } = outcome
      return { eventId: event.id, delivered: error === null, responseStatus, durationMs, error }
    } finally {
      const left = (underWay.get(endpointId) ?? 1) - 1
      if (left > 0) underWay.set(endpointId, left)
      else underWay.delete(endpointId)
    }
  })
}

function testEvent(
  { environment, operatorId, brandId }: Scope,
  { now, newId }: Tools['given'],
): EventMessage<'webhook.test'> {
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
