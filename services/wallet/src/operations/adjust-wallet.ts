import { operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { posting } from '@backoffice/service-runtime'
import { findAccount } from '../storage/find-account.ts'
import type { Ledger } from '../storage/ledger.ts'
import { postTransfer } from '../team/post-transfer.ts'

const operation = operations.wallet.adjustWallet

export const adjustWallet = (ledger: Ledger) =>
  posting(operation, async (call, tools) => {
    const { brandId, playerId, amount, reference, reason } = call.input
    const signed = toMinorUnits(amount)
    if (signed === 0n) {
      const issues = [{ path: '/amount', message: 'must not be zero' }]
      throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
    }
    const account = await findAccount(tools.em, { brandId, playerId })
    if (account === null) throw new Rejection('PLAYER_NOT_FOUND')
    const transfer = {
      kind: signed > 0n ? ('credit' as const) : ('debit' as const),
      brandId,
      playerId,
      currency: account.currency,
      transferId: tools.newId('trf'),
      reference,
      type: 'ADJUSTMENT' as const,
      counterparty: 'adjustments' as const,
      amount: signed > 0n ? signed : -signed,
      effectiveAt: tools.now,
      reason,
    }
    return postTransfer(ledger, transfer, { operation, call, tools })
  })
