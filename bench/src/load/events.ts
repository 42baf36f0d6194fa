import { apiVersion, type EventMessage, eventSubject, events, type Scope } from '@backoffice/contracts'
import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'

/** Publishes an event, and resolves once the stream has it. */
export type PublishEvent = (id: string, scope: Scope) => Promise<void>

/** Publishes events of confirmed deposits as payments does, without the deposits: only webhooks has work to do. */
export function depositEvents(connection: NatsConnection): PublishEvent {
  const stream = jetstream(connection)
  return async (id, { operatorId, brandId, environment }) => {
    const event: EventMessage<'deposit.confirmed'> = {
      id,
      type: 'deposit.confirmed',
      apiVersion,
      environment,
      operatorId,
      brandId,
      createdAt: new Date().toISOString(),
      data: events['deposit.confirmed'].example as EventMessage<'deposit.confirmed'>['data'],
    }
    await stream.publish(eventSubject(event.type), JSON.stringify(event), { msgID: id })
  }
}
