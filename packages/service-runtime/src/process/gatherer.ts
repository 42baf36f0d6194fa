import { AsyncLocalStorage } from 'node:async_hooks'
import { Rejection } from '@backoffice/contracts'

/**
 * What a failed batch calls for: the same batch once more, now that what stood in the way can be seen; each item alone,
 * since one of them is at fault; or nothing, since no item is.
 */
export type BatchFault = 'again' | 'alone' | 'everyone'

export interface GathererOptions<Item, Result> {
  /**
   * Answers one result per item, in order.
   * @param alone the only item, which failed a batch before: it may wait longer, since nobody waits with it
   */
  readonly run: (items: readonly Item[], batch: { readonly alone: boolean }) => Promise<readonly Result[]>
  readonly batchMax: number
  readonly queueMax: number
  /** Batches that run at once. */
  readonly concurrency?: number
  /** Most bytes in a batch; an item above it goes by itself. */
  readonly bytesMax?: number
  readonly bytesOf?: (item: Item) => number
  /** Names what an item changes: items that share a name are never in one batch nor in two that run at once, and keep their order. */
  readonly apart?: (item: Item) => readonly string[]
  /** Whose an item is: the owners take turns, which shows once more waits than one batch takes. */
  readonly ownerOf?: (item: Item) => string
  /** Nobody waits for the item any more; asked when it is taken from the queue. */
  readonly isExpired?: (item: Item) => boolean
  readonly faultOf?: (error: unknown) => BatchFault
}

interface Entry<Item, Result> {
  readonly item: Item
  readonly names: readonly string[]
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
  /** Runs a function where the item was added: in its trace. */
  readonly inItsContext: <T>(run: () => T) => T
}

/** How often a batch runs again as a whole before its items go one by one. */
const repeatsMax = 2
/** Items that failed in a batch run alone, so many at once: one that waits for a lock keeps nobody else waiting. */
const aloneAtOnceMax = 4

/**
 * Does together what waits together. While a batch runs, newcomers wait and form the next: an idle system adds no delay, a
 * busy one makes fewer and larger batches.
 */
export class Gatherer<Item, Result> {
  readonly #options: GathererOptions<Item, Result>
  readonly #concurrency: number
  #queue: Entry<Item, Result>[] = []
  readonly #busyNames = new Set<string>()
  #running = 0
  #scheduled = false
  readonly #waitingAlone: Entry<Item, Result>[] = []
  #alone = 0

  constructor(options: GathererOptions<Item, Result>) {
    this.#options = options
    this.#concurrency = options.concurrency ?? 1
  }

  /** @throws {Rejection} SERVICE_UNAVAILABLE when too many wait, or when the item expired while it waited */
  add(item: Item): Promise<Result> {
    if (this.#queue.length + this.#waitingAlone.length >= this.#options.queueMax) {
      return Promise.reject(unavailable('too many wait for a batch'))
    }
    return new Promise((resolve, reject) => {
      const inItsContext = AsyncLocalStorage.snapshot()
      this.#queue.push({ item, names: this.#options.apart?.(item) ?? [], resolve, reject, inItsContext })
      this.#schedule()
    })
  }

  /** After the current turn, so that what arrives in one network read goes together. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#concurrency) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#startBatches()
    })
  }

  #startBatches(): void {
    while (this.#running < this.#concurrency && this.#queue.length > 0) {
      const batch = this.#take()
      if (batch.length === 0) return
      this.#running++
      void this.#runBatch(batch).finally(() => {
        this.#running--
        if (this.#queue.length > 0) this.#schedule()
      })
    }
  }

  /** The next batch. */
  #take(): Entry<Item, Result>[] {
    this.#queue = this.#queue.filter((entry) => !this.#dropIfExpired(entry))
    const { batchMax, bytesMax = Number.POSITIVE_INFINITY, bytesOf = () => 0 } = this.#options
    const taken = new Set<Entry<Item, Result>>()
    let bytes = 0
    for (const entry of this.#inTurn(this.#free())) {
      if (taken.size >= batchMax) break
      const size = bytesOf(entry.item)
      if (taken.size > 0 && bytes + size > bytesMax) continue
      taken.add(entry)
      bytes += size
    }
    this.#queue = this.#queue.filter((entry) => !taken.has(entry))
    for (const { names } of taken) for (const name of names) this.#busyNames.add(name)
    return [...taken]
  }

  /** Whose names are neither busy nor named by anybody who came earlier, so that nobody overtakes. */
  #free(): Entry<Item, Result>[] {
    const barred = new Set(this.#busyNames)
    return this.#queue.filter(({ names }) => {
      const isFree = !names.some((name) => barred.has(name))
      for (const name of names) barred.add(name)
      return isFree
    })
  }

  /** One of each owner, then the next of each: nobody's burst is everybody's wait. */
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
        this.#settle(batch, await this.#results(batch, false))
        return
      } catch (error) {
        const fault = this.#options.faultOf?.(error) ?? 'everyone'
        if (fault === 'again' && repeat < repeatsMax) continue
        if (fault === 'everyone' || (fault === 'again' && batch.length === 1)) this.#fail(batch, error)
        else this.#runAlone(batch)
        return
      }
    }
  }

  /**
   * What a batch does stands in the trace of its first item. Otherwise it would stand in that of whoever came when nothing
   * ran, and all batches of a busy hour in one trace.
   */
  async #results(batch: readonly Entry<Item, Result>[], alone: boolean): Promise<readonly Result[]> {
    const items = batch.map(({ item }) => item)
    const run = () => this.#options.run(items, { alone })
    // An async function, so that what `run` throws at once is caught as well.
    return batch[0]?.inItsContext(run) ?? []
  }

  /** The items of a failed batch, one by one and apart from the batches, which go on. */
  #runAlone(batch: readonly Entry<Item, Result>[]): void {
    this.#waitingAlone.push(...batch)
    while (this.#alone < aloneAtOnceMax && this.#waitingAlone.length > 0) {
      this.#alone++
      void this.#workAlone()
    }
  }

  async #workAlone(): Promise<void> {
    for (let entry = this.#waitingAlone.shift(); entry !== undefined; entry = this.#waitingAlone.shift()) {
      if (this.#dropIfExpired(entry)) this.#release([entry])
      else await this.#runOnly([entry])
    }
    // In the same turn as the look at the empty queue, or whoever comes in between would wait for nobody.
    this.#alone--
  }

  async #runOnly(only: readonly [Entry<Item, Result>]): Promise<void> {
    for (let repeat = 0; ; repeat++) {
      try {
        this.#settle(only, await this.#results(only, true))
        return
      } catch (error) {
        if (this.#options.faultOf?.(error) === 'again' && repeat < repeatsMax) continue
        this.#fail(only, error)
        return
      }
    }
  }

  #settle(batch: readonly Entry<Item, Result>[], results: readonly Result[]): void {
    if (results.length !== batch.length) {
      // Not run again: what it did is done.
      this.#fail(batch, new Error(`a batch of ${batch.length} answered ${results.length} results`))
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
    for (const { names } of batch) for (const name of names) this.#busyNames.delete(name)
    if (this.#queue.length > 0) this.#schedule()
  }
}

const unavailable = (why: string) => new Rejection('SERVICE_UNAVAILABLE', undefined, { cause: new Error(why) })

function* takeTurns<T>(lines: readonly (readonly T[])[]): Iterable<T> {
  const longest = Math.max(...lines.map((line) => line.length))
  for (let place = 0; place < longest; place++)
    for (const line of lines) if (place < line.length) yield line[place] as T
}
