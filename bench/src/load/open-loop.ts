import { setTimeout as wait } from 'node:timers/promises'
import { Load, type Work } from './load.ts'

/** When each arrival of a steady stream is meant to begin. They are numbered from 0. */
export class ArrivalSchedule {
  readonly #startMs: number
  readonly #everyMs: number

  constructor({ startMs, ratePerSecond }: { readonly startMs: number; readonly ratePerSecond: number }) {
    this.#startMs = startMs
    this.#everyMs = 1_000 / ratePerSecond
  }

  meantAtMs(arrival: number): number {
    return this.#startMs + arrival * this.#everyMs
  }

  /** How many are meant to have begun by now. */
  dueBy(nowMs: number): number {
    return nowMs < this.#startMs ? 0 : Math.floor((nowMs - this.#startMs) / this.#everyMs) + 1
  }
}

export interface OpenLoop {
  readonly ratePerSecond: number
  readonly windowMs: number
  /** How many operations may be under way. Further arrivals wait, and their wait counts. */
  readonly clientsMax: number
  /** How long after the last arrival an operation may still end. One that does not has failed. */
  readonly patienceMs: number
  readonly opened?: () => void
  readonly closed?: () => void
}

const tickMs = 1

/**
 * Operations that arrive at a fixed rate, however slow those before them are, as requests of an operator's players do. The
 * latency of each counts from the moment it was meant to begin, so that a stall of the server is measured in full.
 */
export async function openLoop(settings: OpenLoop, work: Work): Promise<Load> {
  const { ratePerSecond, windowMs, clientsMax, patienceMs } = settings
  const load = new Load()
  const crowd = new Crowd(clientsMax, load, work)
  settings.opened?.()
  load.open()
  const startMs = performance.now()
  const schedule = new ArrivalSchedule({ startMs, ratePerSecond })
  const arrivalsMax = Math.max(1, Math.floor((windowMs * ratePerSecond) / 1_000))
  for (let arrivals = 0; arrivals < arrivalsMax; await crowd.during(tickMs)) {
    // All arrivals that are due, however late: to leave one out would hide exactly the slow moments.
    const due = Math.min(schedule.dueBy(performance.now()), arrivalsMax)
    for (; arrivals < due; arrivals += 1) crowd.arrive(schedule.meantAtMs(arrivals))
  }
  await crowd.during(Math.max(0, startMs + windowMs - performance.now()))
  await crowd.emptied(patienceMs)
  load.close()
  settings.closed?.()
  for (let left = crowd.left; left > 0; left -= 1) load.failed('no reply in time')
  return load
}

/** The clients of an open loop, and the operations that wait for one of them. */
class Crowd {
  readonly #load: Load
  readonly #work: Work
  readonly #idle: number[]
  readonly #waiting: number[] = []
  #taken = 0
  #underWay = 0
  #ended = false
  readonly #fault = Promise.withResolvers<never>()

  constructor(clients: number, load: Load, work: Work) {
    this.#load = load
    this.#work = work
    this.#idle = Array.from({ length: clients }, (_, client) => clients - 1 - client)
    this.#fault.promise.catch(() => {})
  }

  get left(): number {
    return this.#waiting.length - this.#taken + this.#underWay
  }

  arrive(meantAtMs: number): void {
    const client = this.#idle.pop()
    if (client === undefined) this.#waiting.push(meantAtMs)
    else void this.#serve(client, meantAtMs)
  }

  /** @throws the fault of a client, if there was one */
  async during(ms: number): Promise<void> {
    await Promise.race([wait(ms), this.#fault.promise])
  }

  async emptied(patienceMs: number): Promise<void> {
    const until = performance.now() + patienceMs
    while (this.left > 0 && performance.now() < until) await this.during(tickMs)
    // Operations that still wait are dropped: nothing is sent after the end.
    this.#ended = true
  }

  async #serve(client: number, firstMeantAtMs: number): Promise<void> {
    try {
      for (let meantAtMs: number | undefined = firstMeantAtMs; meantAtMs !== undefined; meantAtMs = this.#next()) {
        this.#underWay += 1
        await this.#work(client, this.#load)
        this.#underWay -= 1
        this.#load.done(meantAtMs)
      }
      this.#idle.push(client)
    } catch (error) {
      this.#fault.reject(error)
    }
  }

  #next(): number | undefined {
    const meantAtMs = this.#ended ? undefined : this.#waiting[this.#taken]
    if (meantAtMs !== undefined) this.#taken += 1
    return meantAtMs
  }
}
