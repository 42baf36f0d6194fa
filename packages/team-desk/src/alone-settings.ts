import { Type } from '@sinclair/typebox'

/**
 * Up to which amount one person of the team may do alone in production what takes two above it, in the currency of each
 * brand. Unless it is set, it always takes two.
 */
export const aloneUpTo = Type.String({ pattern: '^\\d{1,13}\\.\\d{2}$', default: '0.00' })

/** Of payments, where withdrawals are paid, and of the wallet, whose reconciliation judges that. */
export const payAloneSettings = {
  /** Approving a withdrawal and paying it. */
  PAY_ALONE_UP_TO: aloneUpTo,
}
