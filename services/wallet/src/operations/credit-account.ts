import { operations, toMinorUnits } from '@backoffice/contracts'
import { posting } from '@backoffice/service-runtime'
import { unexpected } from '../domain/unexpected.ts'
import type { Ledger } from '../storage/ledger.ts'

export const creditAccount = (ledger: Ledger) =>
  posting(operations.wallet.creditAccount, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const { playerId, depositId, amount, effectiveAt } = input
    const answer = await ledger.post({
      kind: 'credit',
      brandId,
      playerId,
      currency,
      transferId: newId('trf'),
      reference: depositId,
      type: 'DEPOSIT',
      counterparty: 'deposits',
      amount: toMinorUnits(amount),
      effectiveAt: new Date(effectiveAt),
    })
    if (answer.outcome !== 'posted') throw unexpected(answer, `the credit of ${depositId}`)
    return { transferId: answer.transferId }
  })
