import type { Setting } from '../case.ts'
import { startProgram } from './http-references.ts'

const patienceMs = 30_000

/** A receiver in a process of its own, and the events that it is expected to receive. */
export class WebhookReceiver {
  readonly url: string
  readonly #expected = new Map<string, (arrived: boolean) => void>()

  private constructor(url: string) {
    this.url = url
  }

  static async start({ ending }: Pick<Setting, 'ending'>): Promise<WebhookReceiver> {
    const { child, ready } = await startProgram('receiver', {}, ending)
    const receiver = new WebhookReceiver(ready as string)
    child.on('message', (ids) => receiver.#recordArrivals(ids as readonly string[]))
    return receiver
  }

  /**
   * Call it before the event is published, because the event may arrive before the publisher has its acknowledgement.
   * @returns whether it arrived in time
   */
  expect(id: string): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#expected.get(id)?.(false), patienceMs)
      this.#expected.set(id, (arrived) => {
        clearTimeout(timer)
        this.#expected.delete(id)
        resolve(arrived)
      })
    })
  }

  #recordArrivals(ids: readonly string[]): void {
    // A delivery may arrive twice; the first time counts.
    for (const id of ids) this.#expected.get(id)?.(true)
  }
}
