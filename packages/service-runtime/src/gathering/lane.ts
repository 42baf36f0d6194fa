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
