import { allOperations, type Input, type Operation } from '@backoffice/contracts'
import type { EventPublisher } from '../messages/publisher.ts'
import type { RpcClient } from '../messages/rpc-client.ts'
import { inContextOf } from '../messages/wire.ts'
import type { CommandRow, EventRow } from './rows.ts'

const operationsByName = new Map(allOperations.map((operation) => [`${operation.service}.${operation.id}`, operation]))

/** Resolves once the service that a command names has done it. */
export async function sendCommand(rpc: RpcClient, row: CommandRow, deadline?: Date): Promise<void> {
  const operation = operationsByName.get(row.name)
  if (operation === undefined) throw new Error(`the outbox names an unknown operation: ${row.name}`)
  const { context, scope, input } = row.message
  await inContextOf(context, () =>
    rpc.call(operation, {
      scope,
      input: input as Input<Operation>,
      isStored: true,
      operationId: row.id,
      requestId: context.requestId ?? row.id,
      ...(deadline === undefined ? {} : { deadline }),
    }),
  )
}

/** Resolves once the stream has an event. */
export function sendEvent(publisher: EventPublisher, { message: { event, context } }: EventRow): Promise<void> {
  return inContextOf(context, () => publisher.publish(event, context.requestId ?? ''))
}
