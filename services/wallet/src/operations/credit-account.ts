import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { unexpected } from '../domain/unexpected.ts'
import { depositTransfer } from '../steps/deposit-transfer.ts'
import type { Ledger } from '../steps/ledger.ts'

export const creditAccount = (ledger: Ledger) =>
  handle(operations.wallet.creditAccount, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const transfer = depositTransfer(input, { brandId, currency, transferId: newId('trf') })
    const result = await ledger.post({ kind: 'credit', ...transfer })
    if (result.outcome !== 'posted') throw unexpected(result, `the credit of ${input.depositId}`)
    return { transferId: result.transferId }
  })
