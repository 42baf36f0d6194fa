import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { unexpected } from '../domain/unexpected.ts'
import { depositTransfer } from '../steps/deposit-transfer.ts'
import type { Ledger } from '../steps/ledger.ts'

export const refuseCredit = (ledger: Ledger) =>
  handle(operations.wallet.refuseCredit, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const transfer = depositTransfer(input, { brandId, currency, transferId: newId('trf') })
    const result = await ledger.post({ kind: 'refusal', ...transfer, reason: input.reason })
    switch (result.outcome) {
      case 'refused':
      case 'posted':
      case 'possible':
        return { state: result.outcome }
      default:
        throw unexpected(result, `the refusal of the credit of ${input.depositId}`)
    }
  })
