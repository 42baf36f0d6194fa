/**
 * Numbers from 1 to `count`, where number n is drawn in proportion to 1 / n ** exponent: what pgbench's random_zipfian
 * draws. With exponent 2 the first is drawn in six of ten cases.
 */
export class Zipf {
  /** The cumulative shares of the draws; the last is 1. */
  readonly #cumulative: Float64Array

  constructor(count: number, exponent: number) {
    this.#cumulative = new Float64Array(count)
    let sum = 0
    for (let index = 0; index < count; index += 1) {
      sum += (index + 1) ** -exponent
      this.#cumulative[index] = sum
    }
    for (let index = 0; index < count; index += 1) this.#cumulative[index] = (this.#cumulative[index] ?? 0) / sum
  }

  /** @param random uniform in [0, 1) */
  draw(random: number): number {
    let low = 0
    let high = this.#cumulative.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#cumulative[middle] ?? 1) > random) high = middle
      else low = middle + 1
    }
    return low + 1
  }
}
