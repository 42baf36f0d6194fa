/**
 * Gathers what arrives together into one call. While a batch runs, newcomers wait and form the next: an idle system adds
 * no delay, a busy one makes fewer and larger calls.
 */
export class Gatherer<Item, Result> {
  readonly #run: (items: Item[]) => Promise<Result[]>
  readonly #batchMax: number
  readonly #queueMax: number
  readonly #concurrency: number
  readonly #queue: { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = []
  #running = 0

  /** @param run answers one result per item, in order; if it throws, every item of the batch is rejected */
  constructor(options: {
    readonly run: (items: Item[]) => Promise<Result[]>
    readonly batchMax: number
    readonly queueMax: number
    readonly concurrency?: number
  }) {
    this.#run = options.run
    this.#batchMax = options.batchMax
    this.#queueMax = options.queueMax
    this.#concurrency = options.concurrency ?? 1
  }

  get queued(): number {
    return this.#queue.length
  }

  /** @throws {GathererFullError} the queue is at its bound */
  add(item: Item): Promise<Result> {
    if (this.#queue.length >= this.#queueMax) return Promise.reject(new GathererFullError())
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject })
      // After the current turn, so that what arrives in one network read goes together.
      if (this.#running < this.#concurrency) setImmediate(() => void this.#drain())
    })
  }

  async #drain(): Promise<void> {
    if (this.#running >= this.#concurrency || this.#queue.length === 0) return
    this.#running++
    const batch = this.#queue.splice(0, this.#batchMax)
    try {
      const results = await this.#run(batch.map(({ item }) => item))
      if (results.length !== batch.length)
        throw new Error(`a batch of ${batch.length} answered ${results.length} results`)
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as Result)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      this.#running--
      if (this.#queue.length > 0) void this.#drain()
    }
  }
}

export class GathererFullError extends Error {
  override readonly name = 'GathererFullError'
}
