import { createHmac } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { serveHttp, type Teardown } from '@backoffice/test-kit'
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
  #secret = ''

  /** @returns the receiver and its URL */
  static async start(t: Teardown, random: Random): Promise<{ readonly receiver: Receiver; readonly url: string }> {
    const receiver = new Receiver()
    const url = await serveHttp(t, async (request, response) => {
      // The sender may die in the middle of its request.
      const body = await buffer(request).catch(() => undefined)
      if (body === undefined) return
      receiver.deliveries += 1
      if (receiver.isAway) response.writeHead(503).end()
      else if (random.oneIn(10)) response.writeHead(500).end()
      else if (random.oneIn(20)) response.destroy()
      else {
        receiver.#take(body, request.headers)
        response.writeHead(204).end()
      }
    })
    return { receiver, url: `${url}/hook` }
  }

  verifyWith(secret: string): void {
    this.#secret = secret
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
