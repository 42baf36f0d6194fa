import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { operations } from '@backoffice/contracts'
import type { Teardown } from '@backoffice/test-kit'
import type { Fleet } from './fleet.ts'
import type { Operator } from './operators.ts'

/** An event as it arrived. */
export interface ReceivedEvent {
  readonly id: string
  readonly type: string
  readonly data: { readonly id: string; readonly status?: string }
}

export type Receiver = { readonly events: readonly ReceivedEvent[] }

/** An operator's server on loopback that takes every webhook, and is told to the operator's sandbox. */
export async function startReceiver(t: Teardown, { bed }: Pick<Fleet, 'bed'>, operator: Operator): Promise<Receiver> {
  const events: ReceivedEvent[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    events.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const input = { operatorId: operator.id, environment: 'sandbox' as const, url }
  await bed.team('alice').call(operations.webhooks.setWebhookUrl, { input })
  return { events }
}
