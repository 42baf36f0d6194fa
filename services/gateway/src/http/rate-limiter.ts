import type { Scope } from '@backoffice/contracts'
import { type Db, sql } from '@backoffice/service-runtime'

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

interface Share {
  /** How many requests this replica may accept now; 0 when the window's budget is used up. */
  readonly granted: number
  /** Until the window ends. */
  readonly remainingMs: number
}

const windowSeconds = 60

/**
 * A window that begins in the future is from before PostgreSQL's clock was set back. It counts as over, or it would
 * last for as long as that step.
 */
const isOver = sql`(
  w.started_at <= clock_timestamp() - make_interval(secs => ${windowSeconds}::int)
  or w.started_at > clock_timestamp() + interval '1 second'
)`

/**
 * Takes a share of the window's budget for this replica, opening a window when none runs. Shares shrink as the budget
 * does, so that replicas waste little of its end; together they never grant more than the limit. The database's clock
 * measures the window, for every replica alike.
 */
export async function takeShare(
  db: Db,
  {
    operatorId,
    environment,
    limit,
  }: { readonly operatorId: string; readonly environment: string; readonly limit: number },
): Promise<Share> {
  const firstShare = shareOf(limit)
  const [share] = await db<Share>`
    insert into rate_window as w (operator_id, environment, started_at, granted, last_grant)
    values (${operatorId}, ${environment}, clock_timestamp(), ${firstShare}::int, ${firstShare}::int)
    on conflict (operator_id, environment) do update set
      started_at = case when ${isOver} then clock_timestamp() else w.started_at end,
      granted = case when ${isOver} then ${firstShare}::int
        else least(${limit}::int, w.granted + greatest(1, ceil((${limit}::int - w.granted) / 8.0)::int)) end,
      last_grant = case when ${isOver} then ${firstShare}::int
        else greatest(0, least(${limit}::int - w.granted, greatest(1, ceil((${limit}::int - w.granted) / 8.0)::int))) end
    returning last_grant as granted,
      greatest(0, extract(epoch from started_at + make_interval(secs => ${windowSeconds}::int) - clock_timestamp()) * 1000)::float8 as remaining_ms
  `
  return share ?? { granted: 0, remainingMs: windowSeconds * 1000 }
}

/** An eighth of the budget: at most a few dozen round trips a window, however high the limit. */
function shareOf(budget: number): number {
  return Math.max(1, Math.ceil(budget / 8))
}
