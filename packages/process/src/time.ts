import type { IdPrefix } from '@backoffice/contracts'
import { fromUUID, typeidUnboxed } from 'typeid-js'
import type { Logger } from './log.ts'

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** Where the time comes from: the system's clock in production, a test's own clock in a test. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** What timers give for a call that is to come, to be taken back with. */
export type Timer = object

/**
 * What runs late and how long anything may take: the process's own in production, a test's own in a test. A `Clock` has
 * no say in it, because nobody waits longer where the day is another.
 */
export interface Timers {
  /** The wall clock in milliseconds, for a deadline that is handed on as a date. It may step. */
  now(): number
  /** Milliseconds since some moment. They never step. */
  monotonic(): number
  setTimeout(run: () => void, ms: number): Timer
  clearTimeout(timer: Timer | undefined): void
}

export const systemTimers: Timers = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
}

export const pause = (timers: Timers, ms: number): Promise<void> =>
  new Promise((resolve) => {
    timers.setTimeout(resolve, ms)
  })

/**
 * A new opaque id: the prefix and a UUIDv7, which begins with the time, so that new rows are neighbours in an index.
 */
export function newId(prefix: IdPrefix | 'req' | 'opn' | 'cmd'): string {
  return typeidUnboxed(prefix)
}

/** The lowest id that can have been made at a moment: rows that are newer are found by their primary key. */
export function firstId(prefix: IdPrefix, at: Date): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return fromUUID(`${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`, prefix)
}

/**
 * Waits for a promise, but no longer than `ms`.
 * @returns what the promise resolves to; undefined when it took too long, after calling `late`
 */
export async function waitAtMost<T>(ms: number, promise: Promise<T>, late: () => unknown): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      late()
      resolve(undefined)
    }, ms)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}

interface Retrying {
  /** Whether a fault may pass. Told which attempt it was, from 1; what it wants logged it logs. */
  readonly while: (error: unknown, attempt: number) => boolean
  /** At once when left out. */
  readonly pauseMs?: number | (() => number)
  readonly attemptsMax?: number
  /** No attempt begins later, on the clock of `performance.now()`. */
  readonly untilMs?: number
  readonly timers?: Timers
}

/**
 * Runs something until it succeeds.
 * @throws the last fault, when no attempt is left or it does not pass by itself
 */
export async function retry<T>(run: (attempt: number) => Promise<T>, retrying: Retrying): Promise<T> {
  const { while: mayPass, pauseMs = 0, timers = systemTimers } = retrying
  const { attemptsMax = Number.POSITIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = retrying
  for (let attempt = 1; ; attempt++) {
    try {
      return await run(attempt)
    } catch (error) {
      const ms = typeof pauseMs === 'number' ? pauseMs : pauseMs()
      const isLast = attempt >= attemptsMax || timers.monotonic() + ms > untilMs
      if (isLast || !mayPass(error, attempt)) throw error
      if (ms > 0) await pause(timers, ms)
    }
  }
}

export interface LoopOptions {
  /** @returns whether there may be more to do at once */
  // biome-ignore lint/suspicious/noConfusingVoidType: most work has nothing to return
  readonly run: () => Promise<boolean | void>
  readonly everyMs: number
  /** Waits this long before its first run; at once when left out. */
  readonly firstAfterMs?: number
  readonly log: Logger
  /** What it does, for the log. For example `purging`. */
  readonly name: string
  readonly timers?: Timers | undefined
}

/** Runs something again and again, never twice at once: whenever it is nudged, and every `everyMs` in any case. */
export class Loop {
  readonly #options: LoopOptions
  #running: Promise<void> | undefined
  #nudged = false
  #stopped = false
  #wake: (() => void) | undefined

  constructor(options: LoopOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#goOn()
  }

  /** Finishes the run under way, and one more if it was nudged meanwhile. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake?.()
    await this.#running
    if (this.#nudged) await this.#attempt()
  }

  /** There is something to do now. */
  nudge(): void {
    this.#nudged = true
    this.#wake?.()
  }

  async #goOn(): Promise<void> {
    const { firstAfterMs, everyMs } = this.#options
    if (firstAfterMs !== undefined) await this.#sleep(firstAfterMs)
    while (!this.#stopped) {
      this.#nudged = false
      const more = await this.#attempt()
      if (!more && !this.#nudged && !this.#stopped) await this.#sleep(everyMs)
    }
  }

  async #attempt(): Promise<boolean> {
    try {
      return (await this.#options.run()) === true
    } catch (error) {
      this.#options.log.warn(
        { err: error, loop: this.#options.name },
        `${this.#options.name} failed; the next run tries again`,
      )
      return false
    }
  }

  #sleep(ms: number): Promise<void> {
    const { timers = systemTimers } = this.#options
    return new Promise((resolve) => {
      const finish = () => {
        timers.clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
      const timer = timers.setTimeout(finish, ms)
      this.#wake = finish
      // It was nudged or stopped before it slept, so there is nothing to wait for.
      if (this.#stopped) finish()
    })
  }
}

/** A queue whose entries run in order, a few at once. */
export class Lane<Entry> {
  readonly #atOnceMax: number
  readonly #run: (entry: Entry) => Promise<void>
  readonly #waiting: Entry[] = []
  #running = 0

  /** @param run never rejects */
  constructor(atOnceMax: number, run: (entry: Entry) => Promise<void>) {
    this.#atOnceMax = atOnceMax
    this.#run = run
  }

  get waiting(): number {
    return this.#waiting.length
  }

  add(entries: readonly Entry[]): void {
    this.#waiting.push(...entries)
    while (this.#running < this.#atOnceMax && this.#waiting.length > 0) {
      this.#running++
      void this.#work()
    }
  }

  async #work(): Promise<void> {
    for (let entry = this.#waiting.shift(); entry !== undefined; entry = this.#waiting.shift()) await this.#run(entry)
    // This must happen in the same turn in which the queue was found empty. Otherwise an entry that is added in between
    // would never run.
    this.#running--
  }
}
