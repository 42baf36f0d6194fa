import { operations } from '@backoffice/contracts'
import { posting } from '@backoffice/service-runtime'
import { unexpected } from '../domain/unexpected.ts'
import type { Ledger } from '../storage/ledger.ts'

export const captureHold = (ledger: Ledger) =>
  posting(operations.wallet.captureHold, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const { playerId, withdrawalId: reference } = input
    const answer = await ledger.post({
      kind: 'capture',
      brandId,
      playerId,
      currency,
      reference,
      transferId: newId('trf'),
      effectiveAt: new Date(input.effectiveAt),
    })
    if (answer.outcome !== 'posted') throw unexpected(answer, `the capture for ${reference}`)
    return { transferId: answer.transferId }
  })
