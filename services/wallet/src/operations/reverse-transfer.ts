import { operations, Rejection } from '@backoffice/contracts'
import { posting } from '@backoffice/service-runtime'
import { transferIdOf } from '../domain/ledger-item.ts'
import type { Ledger } from '../storage/ledger.ts'
import { findEntry, readCounterparty } from '../storage/statement.ts'
import { postTransfer } from '../team/post-transfer.ts'

const operation = operations.wallet.reverseTransfer

export const reverseTransfer = (ledger: Ledger) =>
  posting(operation, async (call, tools) => {
    const { brandId, reference, reason } = call.input
    const reversed = await findEntry(tools.sql, { transferId: transferIdOf(call.input.transferId), brandId })
    if (reversed === null) throw new Rejection('TRANSFER_NOT_FOUND')
    const { playerId, currency, amount, transferId } = reversed
    const transfer = {
      kind: amount > 0n ? ('debit' as const) : ('credit' as const),
      brandId,
      playerId,
      currency,
      transferId: tools.newId('trf'),
      reference,
      type: 'REVERSAL' as const,
      counterparty: await readCounterparty(tools.sql, transferId),
      amount: amount > 0n ? amount : -amount,
      effectiveAt: tools.now,
      reverses: transferId,
      reason,
    }
    return postTransfer(ledger, transfer, { operation, call, tools })
  })
