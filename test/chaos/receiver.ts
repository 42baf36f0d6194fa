import { acknowledge, type Received, replyWith, startReceiver, type Teardown, verifies } from '@backoffice/test-kit'
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
    const { url } = await startReceiver(t, (response, delivery, request) => {
      receiver.deliveries += 1
      if (receiver.isAway) replyWith(503)(response, delivery, request)
      else if (random.oneIn(10)) replyWith(500)(response, delivery, request)
      else if (random.oneIn(20)) response.destroy()
      else {
        receiver.#take(delivery)
        acknowledge(response, delivery, request)
      }
    })
    return { receiver, url }
  }

  verifyWith(secret: string): void {
    this.#secret = secret
  }

  #take(delivery: Received): void {
    const event = JSON.parse(delivery.body) as ReceivedEvent
    if (!verifies(delivery, this.#secret)) this.problems.push(`${event.id} is wrongly signed`)
    if (delivery.id !== event.id) this.problems.push(`${event.id} came under another id`)
    const known = this.events.get(event.id)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(event)) {
      this.problems.push(`${event.id} came with two contents`)
    }
    this.events.set(event.id, event)
  }
}
