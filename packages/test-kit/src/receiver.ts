import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { serveHttp } from './serve-http.ts'
import type { Teardown } from './test-bed.ts'

/** A delivery as an operator's server sees it. */
export interface Received {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
  readonly signatures: string
  readonly body: string
  readonly path: string
  readonly atMs: number
}

type Answer = (response: ServerResponse, delivery: Received, request: IncomingMessage) => void

export const acknowledge: Answer = (response) => {
  response.writeHead(204).end()
}
export const replyWith =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(code, headers).end(`this is ${code}`)
  }

/** An operator's server for webhooks, on loopback. What it received is kept before it answers. */
export async function startReceiver(
  t: Teardown,
  answer: Answer = acknowledge,
): Promise<{ readonly url: string; readonly received: readonly Received[]; readonly close: () => unknown }> {
  const received: Received[] = []
  let close = (): unknown => undefined
  const ending: Teardown = {
    teardown(end) {
      close = end
      t.teardown(end)
    },
  }
  const url = await serveHttp(ending, async (request, response) => {
    // The sender may die in the middle of its request.
    const body = await text(request).catch(() => undefined)
    if (body === undefined) return
    const header = (name: string) => String(request.headers[`x-webhook-${name}`] ?? '')
    const delivery = {
      id: header('id'),
      timestamp: header('timestamp'),
      signature: header('signature'),
      signatures: header('signatures'),
      body,
      path: request.url ?? '',
      atMs: performance.now(),
    }
    received.push(delivery)
    answer(response, delivery, request)
  })
  return { url: `${url}/hook`, received, close }
}

/** A verifier written from the specification alone. */
export function verifies({ timestamp, body, signature }: Received, secret: string): boolean {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex') === signature
}
