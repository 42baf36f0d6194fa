import type { Scope } from '@backoffice/contracts'
import type { Db } from '@backoffice/service-runtime'
import { type Share, takeShare } from '../storage/rate-windows.ts'

/**
 * A window's budget, however large, is given out in about 120 shares. A request that has waited for more than that
 * found none for itself.
 */
const sharesMax = 200

interface Window {
  left: number
  endsAt: number
  spent: boolean
  taking: Promise<Share> | undefined
}

/**
 * At most the operator's limit of requests in a 60 s window, over all replicas. The window's budget is in the database.
 * Each replica takes shares of it, so that most requests need no round trip.
 */
export class RateLimiter {
  readonly #db: Db
  readonly #windows = new Map<string, Window>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Null when the request is within the limit, else the milliseconds until the window ends. */
  async admit({ operatorId, environment }: Scope, limit: number): Promise<number | null> {
    const key = `${operatorId} ${environment}`
    let window = this.#windows.get(key)
    if (window === undefined) {
      window = { left: 0, endsAt: 0, spent: false, taking: undefined }
      this.#windows.set(key, window)
    }
    for (let share = 1; share <= sharesMax; share++) {
      const now = performance.now()
      const running = now < window.endsAt
      if (running && window.left > 0) {
        window.left -= 1
        return null
      }
      if (running && window.spent) return window.endsAt - now
      await this.#take(window, { operatorId, environment, limit })
    }
    return Math.max(0, window.endsAt - performance.now())
  }

  /** Requests that find the share used up wait for the same round trip. */
  async #take(window: Window, budget: { operatorId: string; environment: string; limit: number }): Promise<void> {
    const askedAt = performance.now()
    window.taking ??= takeShare(this.#db, budget)
      .then((share) => {
        // A share belongs to its own window: what is left of an earlier one is not carried over. The window was measured
        // after it was asked for, so this end is not too late, however long the reply took.
        window.left = share.granted
        window.endsAt = askedAt + share.remainingMs
        window.spent = share.granted === 0
        return share
      })
      .finally(() => {
        window.taking = undefined
      })
    await window.taking
  }
}
