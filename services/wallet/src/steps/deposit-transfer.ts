import { type Input, type operations, toMinorUnits } from '@backoffice/contracts'
import type { Target, TransferRequest } from '../domain/posting.ts'

/** The transfer of a deposit. A credit and its refusal must name the same one. */
export function depositTransfer(
  { playerId, depositId, amount, effectiveAt }: Input<typeof operations.wallet.creditAccount>,
  given: Pick<Target, 'brandId' | 'currency'> & Pick<TransferRequest, 'transferId'>,
): Target & TransferRequest {
  return {
    ...given,
    playerId,
    reference: depositId,
    type: 'DEPOSIT',
    counterparty: 'deposits',
    amount: toMinorUnits(amount),
    effectiveAt: new Date(effectiveAt),
  }
}
