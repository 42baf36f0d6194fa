import { holderOf } from '@backoffice/process'
import { LRUCache } from 'lru-cache'

const windowMs = 60_000
/** Whoever has more addresses than this is not stopped by a bound per address. */
const holdersMax = 50_000

/**
 * Counts failed authentications by the caller's address, in the minute that its first failure opens. Whoever guesses
 * soon has to wait. What is rightly signed is not asked for here: it is never refused for what others did.
 */
export class FailedAuthentications {
  readonly #perMinuteMax: number
  readonly #windows = new LRUCache<string, { failures: number }>({ max: holdersMax, ttl: windowMs })

  constructor(perMinuteMax: number) {
    this.#perMinuteMax = perMinuteMax
  }

  /** @returns null within the bound, else the milliseconds until the minute of the address ends */
  count(address: string): number | null {
    const holder = holderOf(address)
    let window = this.#windows.get(holder)
    if (window === undefined) {
      window = { failures: 0 }
      this.#windows.set(holder, window)
    }
    window.failures += 1
    return window.failures > this.#perMinuteMax ? this.#windows.getRemainingTTL(holder) : null
  }

  /** How many addresses are over the bound now. */
  get limitedAddresses(): number {
    let limited = 0
    for (const { failures } of this.#windows.values()) if (failures > this.#perMinuteMax) limited += 1
    return limited
  }
}
