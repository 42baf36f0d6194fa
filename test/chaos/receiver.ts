import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Random } from './random.ts'

/** An event that was answered with 2xx. */
export interface ReceivedEvent {
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** An operator's server for webhooks. Now and then it answers 500, or hangs up without an answer. */
export class Receiver {
  /** By event id. */
  readonly events = new Map<string, ReceivedEvent>()
  /** What a delivery should never be. */
  readonly problems: string[] = []
  deliveries = 0
  /** Answers 503 to everything then. */
  isAway = false
  readonly url: string
  readonly #server: Server
  #secret = ''

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  }

  static async start(random: Random): Promise<Receiver> {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      try {
        for await (const chunk of request) chunks.push(chunk)
      } catch {
        // The sender has died in the middle of its request.
        return
      }
      const body = Buffer.concat(chunks)
      receiver.deliveries += 1
      if (receiver.isAway) response.writeHead(503).end()
      else if (random.oneIn(10)) response.writeHead(500).end()
      else if (random.oneIn(20)) response.destroy()
      else {
        receiver.#take(body, request.headers)
        response.writeHead(204).end()
      }
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const receiver: Receiver = new Receiver(server)
    return receiver
  }

  verifyWith(secret: string): void {
    this.#secret = secret
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #take(body: Buffer, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    const event = JSON.parse(body.toString()) as ReceivedEvent
    const signed = createHmac('sha256', this.#secret).update(`${headers['x-webhook-timestamp']}.`).update(body)
    if (signed.digest('hex') !== headers['x-webhook-signature']) this.problems.push(`${event.id} is wrongly signed`)
    if (headers['x-webhook-id'] !== event.id) this.problems.push(`${event.id} came under another id`)
    const known = this.events.get(event.id)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(event)) {
      this.problems.push(`${event.id} came with two contents`)
    }
    this.events.set(event.id, event)
  }
}
