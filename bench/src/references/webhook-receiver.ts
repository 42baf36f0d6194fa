import type { Setting } from '../case.ts'
import { startProgram } from './http-references.ts'

/** One request that reached the receiver. */
export interface Arrival {
  /** Of the event. */
  readonly id: string
  /** Read from `clockMs`. */
  readonly atMs: number
}

/** Milliseconds of the monotonic clock that all processes of a machine share. */
export const clockMs = (): number => Number(process.hrtime.bigint()) / 1e6

const patienceMs = 30_000

/** A receiver in a process of its own, and the events that it is expected to receive. */
export class WebhookReceiver {
  readonly url: string
  /** Accepts connections and never replies. */
  readonly blackHoleUrl: string
  readonly #expected = new Map<string, (atMs: number | undefined) => void>()

  private constructor(urls: { readonly url: string; readonly blackHoleUrl: string }) {
    this.url = urls.url
    this.blackHoleUrl = urls.blackHoleUrl
  }

  static async start({ ending }: Pick<Setting, 'ending'>): Promise<WebhookReceiver> {
    const { child, ready } = await startProgram('./receiver.ts', {}, ending)
    const receiver = new WebhookReceiver(ready as { url: string; blackHoleUrl: string })
    child.on('message', (arrivals) => receiver.#recordArrivals(arrivals as readonly Arrival[]))
    return receiver
  }

  /**
   * Call it before the event is published, because the event may arrive before the publisher has its acknowledgement.
   * @returns when the event arrived; undefined when it did not arrive in time
   */
  expect(id: string): Promise<number | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#expected.get(id)?.(undefined), patienceMs)
      this.#expected.set(id, (atMs) => {
        clearTimeout(timer)
        this.#expected.delete(id)
        resolve(atMs)
      })
    })
  }

  #recordArrivals(arrivals: readonly Arrival[]): void {
    // A delivery may arrive twice; the first time counts.
    for (const { id, atMs } of arrivals) this.#expected.get(id)?.(atMs)
  }
}
