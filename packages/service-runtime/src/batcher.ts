import { AsyncResource } from 'node:async_hooks'
import { Rejection } from '@backoffice/contracts'
import type { BatchFault } from '@backoffice/database'
import { Lane, limitsMs, patiently, systemTimers, type Timer, type Timers } from '@backoffice/process'

/** How items run. */
export interface Manner {
  /** The item runs alone: its batch failed, or it is suspected to make one fail. */
  readonly alone: boolean
  /** How long to wait for a lock. */
  readonly lockTimeoutMs: number
}

export interface BatcherOptions<Item, Result> {
  /** @returns one result per item, in order */
  readonly run: (items: readonly Item[], manner: Manner) => Promise<readonly Result[]>
  readonly batchMax: number
  readonly queueMax: number
  /** Batches that run at once. */
  readonly concurrency?: number
  /**
   * So many must wait before a batch begins beside another, or wait for `besideAfterMs`: a batch costs much more than an item
   * in it. Absent: one is enough.
   */
  readonly besideFrom?: number
  /** The most bytes in a batch. A larger item runs by itself. */
  readonly bytesMax?: number
  readonly bytesOf?: (item: Item) => number
  /**
   * Keys of what an item changes. Items that share a key are never in one batch, nor in two that run at once, and they
   * keep their order.
   */
  readonly conflictKeys?: (item: Item) => readonly string[]
  /**
   * Keys of what may be at fault when an item fails alone; `conflictKeys` by default. Items that share such a key run alone
   * from then on, until one of them succeeds. So one fault does not fail batch after batch.
   */
  readonly faultKeys?: (item: Item) => readonly string[]
  /** Whose an item is. Owners take turns when more waits than fits into one batch. */
  readonly ownerOf?: (item: Item) => string
  /** Whether nobody waits for the item any more. Asked when it is taken from the queue. */
  readonly isExpired?: (item: Item) => boolean
  readonly faultOf?: (error: unknown) => BatchFault
  readonly timers?: Timers
}

interface Entry<Item, Result> {
  readonly item: Item
  readonly keys: readonly string[]
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
  /** Runs a function in the context in which the item was added, and so in its trace. A snapshot takes 2 µs to make. */
  readonly context: AsyncResource
  /** Since when it is locked out, and how often it has been tried since. */
  lockedOut?: { readonly sinceMs: number; tries: number }
}

/** As long as a batch takes that waits for nobody's lock, on a machine that has room. */
const besideAfterMs = 5
/** How often a batch runs again as a whole before its items go one by one. */
const repeatsMax = 2
/** How long an item waits for a lock that waits without its batch: others wait for their turn, or for its connection. */
const lockTimeoutMs = { alone: 100, lockedOut: 200 }
/** An item that is known to be locked out takes turns with others like it, about as long as its caller waits. */
const lockedOutTriesMax = 30
const lockedOutMsMax = 6_000
/** How many items run alone at once. */
const aloneAtOnceMax = 4
const lockedOutAtOnceMax = 2
/** How many keys of items that failed alone are kept. */
const suspectedKeysMax = 1_000

/**
 * Runs together what waits at the same time. While a batch runs, new items wait and form the next one. So an idle
 * system adds no delay, and a busy one makes fewer and larger batches.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>
  readonly #concurrency: number
  readonly #timers: Timers
  #queue: Entry<Item, Result>[] = []
  readonly #busyKeys = new Set<string>()
  #running = 0
  #scheduled = false
  #besideDue: Timer | undefined
  readonly #alone: Lane<Entry<Item, Result>>
  readonly #lockedOut: Lane<Entry<Item, Result>>
  readonly #suspectedKeys = new Set<string>()

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options
    this.#concurrency = options.concurrency ?? 1
    this.#timers = options.timers ?? systemTimers
    this.#alone = new Lane(aloneAtOnceMax, (entry) => this.#runAlone(entry, 'alone'))
    this.#lockedOut = new Lane(lockedOutAtOnceMax, (entry) => this.#runAlone(entry, 'lockedOut'))
  }

  /** @throws {Rejection} SERVICE_UNAVAILABLE when too many wait, or when the item expired while it waited */
  add(item: Item): Promise<Result> {
    if (this.#isFullFor(item)) {
      return Promise.reject(unavailable('too many wait for a batch'))
    }
    return new Promise((resolve, reject) => {
      const context = new AsyncResource('batched')
      this.#queue.push({ item, keys: this.#options.conflictKeys?.(item) ?? [], resolve, reject, context })
      this.#schedule()
    })
  }

  /** Half of the queue is the most for one owner, so that its burst leaves room for the others. */
  #isFullFor(item: Item): boolean {
    const { queueMax, ownerOf } = this.#options
    if (this.#queue.length + this.#alone.waiting + this.#lockedOut.waiting >= queueMax) return true
    if (ownerOf === undefined || this.#queue.length < queueMax / 2) return false
    const owner = ownerOf(item)
    return this.#queue.filter((entry) => ownerOf(entry.item) === owner).length >= queueMax / 2
  }

  /** Waits for the end of the current turn, so that what arrives in one network read runs together. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#concurrency) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#startBatches()
    })
  }

  #startBatches(isDue = false): void {
    const { besideFrom = 1 } = this.#options
    while (this.#running < this.#concurrency && this.#queue.length > 0) {
      if (this.#running > 0 && this.#queue.length < besideFrom && !isDue) {
        this.#besideDue ??= this.#timers.setTimeout(() => {
          this.#besideDue = undefined
          this.#startBatches(true)
        }, besideAfterMs)
        return
      }
      this.#timers.clearTimeout(this.#besideDue)
      this.#besideDue = undefined
      const batch = this.#take()
      if (batch.length === 0) return
      this.#running++
      void this.#runBatch(batch).finally(() => {
        this.#running--
        if (this.#queue.length > 0) this.#schedule()
      })
    }
  }

  /** The next batch. Items with a suspected key run alone instead. */
  #take(): Entry<Item, Result>[] {
    this.#queue = this.#queue.filter((entry) => !this.#dropIfExpired(entry))
    const { batchMax, bytesMax = Number.POSITIVE_INFINITY, bytesOf = () => 0 } = this.#options
    const taken = new Set<Entry<Item, Result>>()
    const suspected: Entry<Item, Result>[] = []
    let bytes = 0
    for (const entry of this.#inTurn(this.#free())) {
      if (taken.size >= batchMax) break
      if (this.#isSuspected(entry)) {
        suspected.push(entry)
        continue
      }
      const size = bytesOf(entry.item)
      if (taken.size > 0 && bytes + size > bytesMax) continue
      taken.add(entry)
      bytes += size
    }
    const leaving = new Set([...taken, ...suspected])
    this.#queue = this.#queue.filter((entry) => !leaving.has(entry))
    for (const { keys } of leaving) for (const key of keys) this.#busyKeys.add(key)
    this.#alone.add(suspected)
    return [...taken]
  }

  /** The entries whose keys are neither busy nor those of an earlier entry, so that none overtakes another. */
  #free(): Entry<Item, Result>[] {
    const barred = new Set(this.#busyKeys)
    return this.#queue.filter(({ keys }) => {
      const isFree = !keys.some((key) => barred.has(key))
      for (const key of keys) barred.add(key)
      return isFree
    })
  }

  /** One entry of each owner, then the next of each, so that a burst of one owner does not hold up the others. */
  #inTurn(entries: readonly Entry<Item, Result>[]): Iterable<Entry<Item, Result>> {
    const { ownerOf } = this.#options
    if (ownerOf === undefined) return entries
    const lines = [...Map.groupBy(entries, ({ item }) => ownerOf(item)).values()]
    return takeTurns(lines)
  }

  #dropIfExpired(entry: Entry<Item, Result>): boolean {
    if (!this.#options.isExpired?.(entry.item)) return false
    entry.reject(unavailable('the deadline passed in the queue'))
    return true
  }

  async #runBatch(batch: readonly Entry<Item, Result>[]): Promise<void> {
    for (let repeat = 0; ; repeat++) {
      try {
        this.#resolve(batch, await this.#results(batch, { alone: false, lockTimeoutMs: limitsMs.lock }))
        return
      } catch (error) {
        const fault = this.#faultOf(error)
        if (fault === 'again' && repeat < repeatsMax) continue
        const [only] = batch
        if (fault === 'everyone' || (fault === 'again' && batch.length === 1)) this.#fail(batch, error)
        else if (fault === 'locked' && only !== undefined && batch.length === 1) this.#waitForLock(only)
        else this.#alone.add(batch)
        return
      }
    }
  }

  /**
   * A batch belongs to the trace of its first item. Otherwise all batches of a busy hour would belong to one trace,
   * that of the item that came when nothing ran.
   */
  async #results(batch: readonly Entry<Item, Result>[], manner: Manner): Promise<readonly Result[]> {
    const items = batch.map(({ item }) => item)
    const run = () => this.#options.run(items, manner)
    // This function is async, so that an error which `run` throws at once is caught as well.
    return batch[0]?.context.runInAsyncScope(run) ?? []
  }

  async #runAlone(entry: Entry<Item, Result>, how: keyof typeof lockTimeoutMs): Promise<void> {
    const manner = { alone: true, lockTimeoutMs: patiently(lockTimeoutMs[how]) }
    if (this.#dropIfExpired(entry)) {
      this.#release([entry])
      return
    }
    for (let repeat = 0; ; repeat++) {
      try {
        const results = await this.#results([entry], manner)
        for (const key of this.#faultKeysOf(entry)) this.#suspectedKeys.delete(key)
        this.#resolve([entry], results)
        return
      } catch (error) {
        const fault = this.#faultOf(error)
        if (fault === 'again' && repeat < repeatsMax) continue
        if (fault === 'locked' && this.#mayWaitForLock(entry)) {
          this.#waitForLock(entry)
          return
        }
        if (fault !== 'everyone') this.#suspect(entry)
        this.#fail([entry], error)
        return
      }
    }
  }

  #mayWaitForLock({ lockedOut }: Entry<Item, Result>): boolean {
    if (lockedOut === undefined) return true
    const { tries, sinceMs } = lockedOut
    return tries < lockedOutTriesMax && this.#timers.monotonic() - sinceMs < patiently(lockedOutMsMax)
  }

  #waitForLock(entry: Entry<Item, Result>): void {
    entry.lockedOut ??= { sinceMs: this.#timers.monotonic(), tries: 0 }
    entry.lockedOut.tries++
    this.#suspect(entry)
    this.#lockedOut.add([entry])
  }

  #faultOf(error: unknown): BatchFault {
    return this.#options.faultOf?.(error) ?? 'everyone'
  }

  #faultKeysOf({ item, keys }: Entry<Item, Result>): readonly string[] {
    return this.#options.faultKeys?.(item) ?? keys
  }

  #isSuspected(entry: Entry<Item, Result>): boolean {
    return this.#suspectedKeys.size > 0 && this.#faultKeysOf(entry).some((key) => this.#suspectedKeys.has(key))
  }

  #suspect(entry: Entry<Item, Result>): void {
    for (const key of this.#faultKeysOf(entry)) this.#suspectedKeys.add(key)
    for (const oldest of this.#suspectedKeys) {
      if (this.#suspectedKeys.size <= suspectedKeysMax) break
      this.#suspectedKeys.delete(oldest)
    }
  }

  #resolve(batch: readonly Entry<Item, Result>[], results: readonly Result[]): void {
    if (results.length !== batch.length) {
      // The batch has had its effect, so it is not run again.
      this.#fail(batch, new Error(`a batch of ${batch.length} returned ${results.length} results`))
      return
    }
    batch.forEach(({ resolve }, index) => {
      resolve(results[index] as Result)
    })
    this.#release(batch)
  }

  #fail(batch: readonly Entry<Item, Result>[], error: unknown): void {
    for (const { reject } of batch) reject(error)
    this.#release(batch)
  }

  #release(batch: readonly Entry<Item, Result>[]): void {
    for (const { keys } of batch) for (const key of keys) this.#busyKeys.delete(key)
    if (this.#queue.length > 0) this.#schedule()
  }
}

const unavailable = (why: string) => new Rejection('SERVICE_UNAVAILABLE', undefined, { cause: new Error(why) })

function* takeTurns<T>(lines: readonly (readonly T[])[]): Iterable<T> {
  const longest = Math.max(...lines.map((line) => line.length))
  for (let place = 0; place < longest; place++)
    for (const line of lines) if (place < line.length) yield line[place] as T
}
