import { toMinorUnits } from '@backoffice/contracts'
import type { ReadDb } from '@backoffice/service-runtime'
import { environmentOf } from '../storage/brands.ts'

/** Corrections take two people in production, where they are above an amount. */
export class TwoPeopleRule {
  readonly #above: bigint

  /** @param above money, such as `50.00` */
  constructor(above: string) {
    this.#above = toMinorUnits(above)
  }

  /** @param amount in minor units, whatever its sign */
  async holds(
    db: ReadDb,
    { brandId, amount }: { readonly brandId: string; readonly amount: bigint },
  ): Promise<boolean> {
    const size = amount < 0n ? -amount : amount
    return size > this.#above && (await environmentOf(db, brandId)) === 'production'
  }
}
