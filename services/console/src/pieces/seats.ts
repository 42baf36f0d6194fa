/** What is open at once: so much in all, and of one person so much that others have theirs. */
export class Seats {
  readonly #max: number
  readonly #ofOneMax: number
  readonly #taken = new Map<string, number>()
  #all = 0

  constructor({ max, ofOneMax }: { readonly max: number; readonly ofOneMax: number }) {
    this.#max = max
    this.#ofOneMax = ofOneMax
  }

  /** @returns gives it back, and is called once; undefined when there is none left for this person */
  take(person: string): (() => void) | undefined {
    const taken = this.#taken.get(person) ?? 0
    if (this.#all >= this.#max || taken >= this.#ofOneMax) return undefined
    this.#all += 1
    this.#taken.set(person, taken + 1)
    return () => {
      this.#all -= 1
      const left = (this.#taken.get(person) ?? 1) - 1
      if (left === 0) this.#taken.delete(person)
      else this.#taken.set(person, left)
    }
  }
}
