import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from '@backoffice/test-kit'

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

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  close(): Promise<void>
}

type Answer = (response: ServerResponse, delivery: Received, request: IncomingMessage) => void

export const acknowledge: Answer = (response) => {
  response.writeHead(204).end()
}
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(code, headers).end(`this is ${code}`)
  }

/** An operator's server on loopback. What it received is kept before it answers. */
export async function startReceiver(t: Teardown, answer: Answer = acknowledge): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const header = (name: string) => String(request.headers[name] ?? '')
      const delivery = {
        id: header('x-webhook-id'),
        timestamp: header('x-webhook-timestamp'),
        signature: header('x-webhook-signature'),
        signatures: header('x-webhook-signatures'),
        body: Buffer.concat(chunks).toString('utf8'),
        path: request.url ?? '',
        atMs: performance.now(),
      }
      received.push(delivery)
      answer(response, delivery, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  t.teardown(close)
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, received, close }
}

/** A verifier written from the specification alone. */
export function verifies(delivery: Received, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(`${delivery.timestamp}.${delivery.body}`).digest('hex')
  return expected === delivery.signature
}
