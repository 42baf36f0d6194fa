import { operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { posting } from '@backoffice/service-runtime'
import { unexpected } from '../domain/unexpected.ts'
import type { Ledger } from '../storage/ledger.ts'

export const openHold = (ledger: Ledger) =>
  posting(operations.wallet.openHold, async ({ input, scope: { brandId, currency } }) => {
    const { playerId, withdrawalId: reference } = input
    const amount = toMinorUnits(input.amount)
    const answer = await ledger.post({ kind: 'hold', brandId, playerId, currency, reference, amount })
    if (answer.outcome === 'insufficient_funds') throw new Rejection('INSUFFICIENT_FUNDS')
    if (answer.outcome !== 'hold') throw unexpected(answer, `the hold for ${reference}`)
    return { state: answer.state }
  })
