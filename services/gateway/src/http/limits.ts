import {
  type ErrorDetails,
  httpOperations,
  type Operation,
  providerOperations,
  type StoredAmount,
  storedBodyBytesMax,
  storedBytesMax,
} from '@backoffice/contracts'
import { type Clock, type Logger, Loop } from '@backoffice/process'
import { type Background, type Db, sql } from '@backoffice/service-runtime'
import type { DayUse } from '../operators/operator.ts'
import { type Budget, type Tenant, today, useColumns } from '../operators/records.ts'
import { type Access, type AdmittedCaller, rawBody } from './authenticate.ts'
import { type HttpReply, RetryLater, retryAfterSeconds } from './reply.ts'

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
  async admit({ operatorId, environment }: Budget, limit: number): Promise<number | null> {
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

/** How often a body is kept, at most: record, replies, events, deliveries, each perhaps sealed, and pages that are not full. */
const bodyCopiesMax = 12
/** A refused call that was to end a record: its claim, and the service's reply. */
const refusedEnding: StoredAmount = { bytes: 2_500, rows: 2 }
const nothing: StoredAmount = { bytes: 0, rows: 0 }

const isReserved = ({ stores }: Pick<Operation, 'stores'>): boolean => stores === 'reserved'

/** What a call is counted with when it begins. It errs upwards, so that no quota is passed unseen. */
function costOfCall({ stores = nothing }: Pick<Operation, 'stores'>, bodyBytes: number): StoredAmount {
  const { bytes, rows } = stores === 'reserved' ? nothing : stores
  return { bytes: bytes + bodyCopiesMax * Math.min(bodyBytes, storedBodyBytesMax), rows }
}

/** What comes on top when it has its reply, which is kept for replays. Without one nobody knows what it did. */
function costOfReply(
  operation: Pick<Operation, 'stores'>,
  reply?: { readonly status: number; readonly body: Uint8Array },
): StoredAmount {
  const ended = reply !== undefined && reply.status < 400
  const { bytes, rows } = isReserved(operation) && !ended ? refusedEnding : nothing
  return { bytes: bytes + (reply?.body.length ?? 0), rows }
}

/** No request for one of these operations counts with more: the heaviest kind, the longest body and the longest reply. */
function heaviestOf(served: readonly Operation[]): StoredAmount {
  const storing = served.flatMap(({ stores }) => (typeof stores === 'object' ? [stores] : []))
  return {
    bytes:
      Math.max(...storing.map(({ bytes }) => bytes)) +
      costOfCall({ stores: nothing }, storedBodyBytesMax).bytes +
      storedBytesMax,
    rows: Math.max(...storing.map(({ rows }) => rows)),
  }
}
export const heaviestRequest = heaviestOf(httpOperations)
export const heaviestStake = heaviestOf(providerOperations)

const sumOf = (one: StoredAmount, other: StoredAmount): StoredAmount => ({
  bytes: one.bytes + other.bytes,
  rows: one.rows + other.rows,
})

/** The later of two counts of one tenant; of the same day the higher one, since a count only rises. */
function laterOf(one: DayUse, other: DayUse): DayUse {
  if (one.day !== other.day) return one.day > other.day ? one : other
  return { day: one.day, bytes: Math.max(one.bytes, other.bytes), rows: Math.max(one.rows, other.rows) }
}

/** When a day of UTC is over. */
const endOf = (day: string): Date => new Date(Date.parse(day) + 24 * 3_600_000)

const names = ['bytes', 'rows'] as const

/**
 * The quota that a call would pass. What ends a record was counted with it, so the quotas of such a call only bound how
 * often it may be refused: they are an eighth higher, and whatever was begun can be ended.
 */
function passedQuota(
  operation: Pick<Operation, 'stores'>,
  { used, cost, quotas }: { readonly used: DayUse; readonly cost: StoredAmount; readonly quotas: StoredAmount },
): ErrorDetails<'DAILY_QUOTA_EXCEEDED'> | null {
  const limitOf = (name: keyof StoredAmount) => Math.floor(isReserved(operation) ? quotas[name] * 1.125 : quotas[name])
  const quota = names.find((name) => used[name] + cost[name] > limitOf(name))
  if (quota === undefined) return null
  return { quota, used: used[quota], limit: limitOf(quota), resetsAt: endOf(used.day).toISOString() }
}

/** A call that may store something. */
type Call = Pick<Access, 'operation' | 'request' | 'credential'>

/** What this replica knows of a tenant's day. */
interface Known extends Tenant {
  /** The sum of all replicas when this one last wrote. */
  counted: DayUse
  /** Counted since then, and not written yet. */
  waiting: StoredAmount
  writing: StoredAmount
}

const writeEveryMs = 500

/**
 * Counts what the calls of each operator store in a day, and says which call would pass a quota. No request waits for it:
 * calls are counted in memory and written twice a second, and what the other replicas wrote comes with the credential, which
 * is read anew within a second. So a quota is passed by no more than what arrives in some two seconds, and a process that
 * dies forgets what it counted in half of one.
 */
export class DailyUse implements Background {
  readonly #db: Db
  readonly #clock: Clock
  readonly #loop: Loop
  readonly #known = new Map<string, Known>()

  constructor(given: {
    readonly db: Db
    readonly clock: Clock
    readonly log: Logger
  }) {
    this.#db = given.db
    this.#clock = given.clock
    this.#loop = new Loop({
      run: () => this.#write(),
      everyMs: writeEveryMs,
      log: given.log,
      name: "writing the day's use",
    })
  }

  start(): void {
    this.#loop.start()
  }

  /** Writes what is counted by then. */
  stop(): Promise<void> {
    this.#loop.nudge()
    return this.#loop.stop()
  }

  /** @returns DAILY_QUOTA_EXCEEDED when the call would pass a quota, else null */
  refusalOf({ operation, request, credential }: Call): RetryLater | null {
    const { tenant, usedToday } = credential
    const { counted, waiting, writing } = this.#tenant(tenant, usedToday)
    const known = laterOf(counted, usedToday)
    const details = passedQuota(operation, {
      used: { day: known.day, ...sumOf(known, sumOf(waiting, writing)) },
      cost: costOfCall(operation, rawBody(request).length),
      quotas: credential.quotas,
    })
    if (details === null) return null
    const waitMs = Date.parse(details.resetsAt) - this.#clock.now().getTime()
    return new RetryLater(retryAfterSeconds(waitMs), 'DAILY_QUOTA_EXCEEDED', details)
  }

  /** The call goes on. */
  begun({ operation, request, credential }: Call): void {
    this.#count(credential, costOfCall(operation, rawBody(request).length))
  }

  /** @param reply undefined where the outcome is not known */
  ended({ operation, credential }: Call, reply: HttpReply | undefined): void {
    this.#count(credential, costOfReply(operation, reply))
  }

  /** Something follows from a call that its kind does not count with. */
  followed({ credential }: Pick<Call, 'credential'>, stored: StoredAmount): void {
    this.#count(credential, stored)
  }

  #count({ tenant, usedToday }: AdmittedCaller, stored: StoredAmount): void {
    const known = this.#tenant(tenant, usedToday)
    known.waiting = sumOf(known.waiting, stored)
  }

  #tenant({ operatorId, environment }: Tenant, counted: DayUse): Known {
    const name = nameOf({ operatorId, environment })
    let known = this.#known.get(name)
    if (known === undefined) {
      known = { operatorId, environment, counted, waiting: nothing, writing: nothing }
      this.#known.set(name, known)
    }
    return known
  }

  async #write(): Promise<void> {
    const tenants = [...this.#known.values()].filter(({ waiting }) => waiting.bytes > 0)
    if (tenants.length === 0) return
    for (const tenant of tenants) Object.assign(tenant, { writing: tenant.waiting, waiting: nothing })
    try {
      const uses = tenants.map(({ operatorId, environment, writing }) => ({ operatorId, environment, ...writing }))
      for (const { day, bytes, rows, ...tenant } of await addUses(this.#db, uses)) {
        const known = this.#known.get(nameOf(tenant))
        if (known !== undefined) known.counted = { day, bytes, rows }
      }
    } catch (error) {
      for (const tenant of tenants) tenant.waiting = sumOf(tenant.waiting, tenant.writing)
      throw error
    } finally {
      for (const tenant of tenants) tenant.writing = nothing
    }
  }
}

const nameOf = ({ operatorId, environment }: Tenant): string => `${operatorId} ${environment}`

/**
 * Adds to the day's counts, in the order of the tenants, so that two replicas cannot deadlock.
 * @returns the sums of all replicas
 */
async function addUses(db: Db, uses: readonly (Tenant & StoredAmount)[]): Promise<readonly (Tenant & DayUse)[]> {
  return db<Tenant & DayUse>`
    insert into daily_use as u (operator_id, environment, day, bytes, rows)
    select operator_id, environment, ${today}, bytes, rows
    from ${sql.unnest('a', uses, 'operator_id text, environment text, bytes bigint, rows bigint')}
    order by operator_id collate "C", environment collate "C"
    on conflict (operator_id, environment) do update set day = excluded.day,
      bytes = case when u.day = excluded.day then u.bytes else 0 end + excluded.bytes,
      rows = case when u.day = excluded.day then u.rows else 0 end + excluded.rows
    returning operator_id, environment, ${useColumns}
  `
}
