import { toMinorUnits } from '@backoffice/contracts'
import type { Approver, ReadDb } from '@backoffice/service-runtime'
import { environmentOf } from '../storage/brands.ts'
import { type Correction, sumCorrectedAlone } from '../storage/corrected-alone.ts'

/**
 * Says who has to approve a correction. In production it takes a second person above an amount. What one person corrected
 * alone of a player's balance is counted together, so that many small corrections are no way around it.
 * @param correction `amount` in minor units, whatever its sign
 */
export type CorrectionApprover = (
  db: ReadDb,
  correction: Correction & { readonly amount: bigint },
  now: Date,
) => Promise<Approver>

/** @param aloneUpTo money, such as `50.00` */
export function correctionApprover(aloneUpTo: string): CorrectionApprover {
  const above = toMinorUnits(aloneUpTo)
  return async (db, { amount, ...correction }, now) => {
    if ((await environmentOf(db, correction.brandId)) !== 'production') return 'nobody'
    const size = amount < 0n ? -amount : amount
    const takesTwo = size > above || size + (await sumCorrectedAlone(db, correction, now)) > above
    return takesTwo ? 'second person' : 'nobody'
  }
}
