import { randomUUID } from 'node:crypto'
import {
  apiVersion,
  type EventMessage,
  eventSubject,
  events,
  headerNames,
  type Operation,
  rpcSubject,
  type Scope,
} from '@backoffice/contracts'
import { connectNats, repliesOver } from '@backoffice/rpc'
import { jetstream } from '@nats-io/jetstream'
import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node'

export interface NatsLogin {
  readonly url: string
  readonly user: string
  readonly password: string
}

export const connectAs = ({ url, user, password }: NatsLogin): Promise<NatsConnection> =>
  connectNats({ NATS_URL: url, NATS_USER: user, NATS_PASSWORD: password }, { name: 'bench', attemptsMax: 3 })

const timeoutMs = 8_000

/**
 * A call of one service on another. The services' own client validates requests and replies and opens spans. That is the
 * sender's cost and is not measured here, so a load sends and reads the bare messages.
 * @returns what failed, or undefined
 */
export async function callOver(
  connection: NatsConnection,
  operation: Operation,
  message: { readonly scope: Scope; readonly input: unknown },
): Promise<string | undefined> {
  const id = randomUUID()
  const sent = headers()
  sent.set(headerNames.operationId, `opn_${id}`)
  sent.set(headerNames.requestId, `req_${id}`)
  sent.set(headerNames.timeoutMs, String(timeoutMs))
  const request = { service: operation.service, subject: rpcSubject(operation), headers: sent, timeoutMs }
  try {
    return failureIn(await repliesOver(connection).request({ ...request, payload: JSON.stringify(message) }))
  } catch (error) {
    return String(error)
  }
}

function failureIn(message: Msg): string | undefined {
  const text = message.string()
  return text.startsWith('{"error"') ? `refused: ${/"code":"(\w+)"/.exec(text)?.[1]}` : undefined
}

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
