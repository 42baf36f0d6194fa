import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { unexpected } from '../domain/unexpected.ts'
import type { Ledger } from '../steps/ledger.ts'

export const captureHold = (ledger: Ledger) =>
  handle(operations.wallet.captureHold, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const { playerId, withdrawalId: reference } = input
    const result = await ledger.post({
      kind: 'capture',
      brandId,
      playerId,
      currency,
      reference,
      transferId: newId('trf'),
      effectiveAt: new Date(input.effectiveAt),
    })
    if (result.outcome !== 'posted') throw unexpected(result, `the capture for ${reference}`)
    return { transferId: result.transferId }
  })
