import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { transferIdOf } from '../domain/ledger-item.ts'
import type { Ledger } from '../steps/ledger.ts'
import { postTransfer } from '../steps/post-transfer.ts'
import type { CorrectionApprover } from '../steps/two-people.ts'
import { findEntry, readCounterparty } from '../storage/statement.ts'

const operation = operations.wallet.reverseTransfer

export const reverseTransfer = (ledger: Ledger, approverOf: CorrectionApprover) =>
  handle(operation, {
    async approval({ input: { transferId, reference }, caller: person }, { db, now }) {
      const reversed = await findEntry(db, transferIdOf(transferId))
      if (reversed === undefined) return 'nobody'
      const { brandId, playerId, transferAmount: amount } = reversed
      return approverOf(db, { brandId, playerId, reference, person, amount }, now)
    },
    async run(call, tools) {
      const { reference, reason } = call.input
      const id = transferIdOf(call.input.transferId)
      const reversed = await findEntry(tools.db, id)
      if (reversed === undefined) throw new Rejection('TRANSFER_NOT_FOUND')
      const { brandId, playerId, currency, amount } = reversed
      const transfer = {
        kind: amount > 0n ? ('debit' as const) : ('credit' as const),
        brandId,
        playerId,
        currency,
        transferId: tools.newId('trf'),
        reference,
        type: 'REVERSAL' as const,
        counterparty: await readCounterparty(tools.db, id),
        amount: reversed.transferAmount,
        reverses: id,
        reason,
      }
      return postTransfer(ledger, transfer, { operation, call, tools })
    },
  })
