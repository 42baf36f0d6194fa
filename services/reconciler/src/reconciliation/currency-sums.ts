import type { FoundDifference } from './check.ts'

interface Entered {
  readonly brandId: string
  readonly currency: string
  readonly amount: bigint
}

/**
 * Debits equal credits: what was entered in a brand's currency sums to zero. Only transactions that have ended count,
 * because the sum is taken over many snapshots.
 */
export class CurrencySums {
  readonly #sums = new Map<string, { -readonly [Field in keyof Entered]: Entered[Field] }>()

  get size(): number {
    return this.#sums.size
  }

  add({ brandId, currency, amount }: Entered): void {
    const key = `${brandId} ${currency}`
    const sum = this.#sums.get(key)
    if (sum === undefined) this.#sums.set(key, { brandId, currency, amount })
    else sum.amount += amount
  }

  differences(): FoundDifference[] {
    const explanation = 'All entries of a currency must sum to zero (minor units).'
    return [...this.#sums.values()]
      .filter(({ amount }) => amount !== 0n)
      .map(({ brandId, currency, amount }) => ({
        ...{ brandId, subject: currency, expected: '0', actual: String(amount), explanation },
      }))
  }
}
