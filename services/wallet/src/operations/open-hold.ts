import { operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { unexpected } from '../domain/unexpected.ts'
import type { Ledger } from '../steps/ledger.ts'

export const openHold = (ledger: Ledger) =>
  handle(operations.wallet.openHold, async ({ input, scope: { brandId, currency } }) => {
    const { playerId, withdrawalId: reference } = input
    const amount = toMinorUnits(input.amount)
    const result = await ledger.post({ kind: 'hold', brandId, playerId, currency, reference, amount })
    if (result.outcome === 'insufficient_funds') throw new Rejection('INSUFFICIENT_FUNDS')
    if (result.outcome !== 'hold') throw unexpected(result, `the hold for ${reference}`)
    return { state: result.state }
  })
