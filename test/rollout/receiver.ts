import { json } from 'node:stream/consumers'
import { operations } from '@backoffice/contracts'
import { serveHttp, type Teardown } from '@backoffice/test-kit'
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
  const url = await serveHttp(t, async (request, response) => {
    events.push((await json(request)) as ReceivedEvent)
    response.writeHead(204).end()
  })
  const input = { operatorId: operator.id, environment: 'sandbox' as const, url }
  await bed.team('alice').call(operations.webhooks.setWebhookUrl, { input })
  return { events }
}
