import { type EventKind, eventEnvelope, events } from '@backoffice/contracts'
import { exampleEvent } from './example-delivery.ts'
import type { JsonSchema, SchemaComponents } from './json-schema.ts'

/** What an operator's server receives for one kind of event. */
export function webhookObject(kind: EventKind, components: SchemaComponents): JsonSchema {
  const event = events[kind]
  const header = (name: string, description: string, schema: JsonSchema) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema,
  })
  return {
    operationId: `webhook_${kind.replaceAll('.', '_')}`,
    summary: event.summary,
    description: event.description,
    tags: ['Webhooks'],
    security: [],
    parameters: [
      header(
        'X-Webhook-Id',
        'Id of the event: equal to `id` in the body. Only the body is signed, so drop duplicates by the `id` in the verified body.',
        { type: 'string', maxLength: 64 },
      ),
      header('X-Webhook-Timestamp', 'Epoch seconds of this attempt, part of what is signed.', {
        type: 'string',
        pattern: '^\\d{10}$',
      }),
      header(
        'X-Webhook-Signature',
        'Lowercase hex HMAC-SHA256 with the webhook secret over timestamp, a dot, and the raw body.',
        {
          type: 'string',
          pattern: '^[0-9a-f]{64}$',
        },
      ),
      header('X-Webhook-Signatures', 'The same signature made with every valid secret, newest first.', {
        type: 'string',
        pattern: '^t=\\d{10}(,v1=[0-9a-f]{64})+$',
      }),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: components.publish({ ...eventEnvelope(kind), $id: eventSchemaName(kind) }),
          example: exampleEvent(kind),
        },
      },
    },
    responses: {
      '2XX': { description: 'Acknowledged.' },
      default: { description: 'Anything else is retried with exponential backoff, up to 8 attempts.' },
    },
  }
}

/** deposit.confirmed → DepositConfirmedEvent */
function eventSchemaName(kind: EventKind): string {
  const words = kind.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}Event`
}
