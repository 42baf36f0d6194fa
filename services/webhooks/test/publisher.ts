import { apiVersion, type EventMessage, eventSubject, events, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'

/** A confirmed deposit's event, as payments would emit it. */
export function depositConfirmed(scope: Scope): EventMessage<'deposit.confirmed'> {
  const { operatorId, brandId, environment } = scope
  return {
    id: newId('evt'),
    type: 'deposit.confirmed',
    apiVersion,
    environment,
    operatorId,
    brandId,
    createdAt: new Date().toISOString(),
    data: events['deposit.confirmed'].example as EventMessage<'deposit.confirmed'>['data'],
  }
}

/** Publishes with the rights of payments; the id is also what JetStream de-duplicates by. */
export async function publish(connection: NatsConnection, event: EventMessage, messageId = event.id): Promise<void> {
  await jetstream(connection).publish(eventSubject(event.type), JSON.stringify(event), { msgID: messageId })
}
