import { createHash, randomInt } from 'node:crypto'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/**
 * Choices that follow from a seed alone. Whoever chooses beside others takes a stream of its own, so that the order in
 * which they run changes nobody's choices.
 */
export class Random {
  readonly seed: string
  readonly #generator: ReturnType<typeof xoroshiro128plus>

  constructor(seed: string) {
    this.seed = seed
    this.#generator = xoroshiro128plus(createHash('sha256').update(seed).digest().readInt32BE())
  }

  /** By CHAOS_SEED, or made up. The test says how it is repeated. */
  static of(t: { comment(text: string): void }): Random {
    const seed = process.env.CHAOS_SEED ?? String(randomInt(1_000_000_000))
    t.comment(`seed ${seed}: CHAOS_SEED=${seed} repeats it`)
    return new Random(seed)
  }

  /** Another stream, which follows from the same seed and this name. */
  stream(name: string): Random {
    return new Random(`${this.seed}/${name}`)
  }

  /** Both bounds included. */
  integer(least: number, most: number): number {
    return uniformInt(this.#generator, least, most)
  }

  /** True once in so many times, on average. */
  oneIn(times: number): boolean {
    return this.integer(1, times) === 1
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.integer(0, list.length - 1)]
    if (picked === undefined) throw new Error('there is nothing to pick from')
    return picked
  }

  /** One of the names, each as likely as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[]
    let left = this.integer(
      1,
      names.reduce((sum, name) => sum + weights[name], 0),
    )
    for (const name of names) {
      left -= weights[name]
      if (left <= 0) return name
    }
    throw new Error('the weights are not positive')
  }

  shuffled<T>(list: readonly T[]): T[] {
    const order = [...list]
    for (let last = order.length - 1; last > 0; last -= 1) {
      const other = this.integer(0, last)
      ;[order[last], order[other]] = [order[other] as T, order[last] as T]
    }
    return order
  }

  /** So many of the list: all of it in one random order, then all of it in another, and so on. */
  deal<T>(list: readonly T[], count: number): T[] {
    const dealt: T[] = []
    while (dealt.length < count) dealt.push(...this.shuffled(list))
    return dealt.slice(0, count)
  }
}
