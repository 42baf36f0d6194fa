import { operations, toMinorUnits } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { unexpected } from '../domain/unexpected.ts'
import type { Ledger } from '../steps/ledger.ts'

export const creditAccount = (ledger: Ledger) =>
  handle(operations.wallet.creditAccount, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const { playerId, depositId, amount, effectiveAt } = input
    const result = await ledger.post({
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
    if (result.outcome !== 'posted') throw unexpected(result, `the credit of ${depositId}`)
    return { transferId: result.transferId }
  })
