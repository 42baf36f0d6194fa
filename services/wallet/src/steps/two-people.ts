import { toMinorUnits } from '@backoffice/contracts'
import type { ReadDb } from '@backoffice/service-runtime'
import { environmentOf } from '../storage/brands.ts'
import { type Correction, sumCorrectedAlone } from '../storage/corrected-alone.ts'

/**
 * Corrections take two people in production, where they are above an amount. What one person corrected alone of a player's
 * balance is counted together, so that many small corrections are no way around it.
 */
export class TwoPeopleRule {
  readonly #above: bigint

  /** @param above money, such as `50.00` */
  constructor(above: string) {
    this.#above = toMinorUnits(above)
  }

  /**
   * Whether a correction takes two people.
   * @param correction `amount` in minor units, whatever its sign
   */
  async holds(
    db: ReadDb,
    { amount, ...correction }: Correction & { readonly amount: bigint },
    now: Date,
  ): Promise<boolean> {
    if ((await environmentOf(db, correction.brandId)) !== 'production') return false
    const size = amount < 0n ? -amount : amount
    return size > this.#above || size + (await sumCorrectedAlone(db, correction, now)) > this.#above
  }
}
