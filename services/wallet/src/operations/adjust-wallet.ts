import { invalid, operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import type { Ledger } from '../steps/ledger.ts'
import { postTransfer } from '../steps/post-transfer.ts'
import type { CorrectionApprover } from '../steps/two-people.ts'
import { findBalanceOfPlayer } from '../storage/accounts.ts'

const operation = operations.wallet.adjustWallet

export const adjustWallet = (ledger: Ledger, approverOf: CorrectionApprover) =>
  handle(operation, {
    async approval({ input: { playerId, amount, reference }, caller: person }, { db, now }) {
      const account = await findBalanceOfPlayer(db, playerId)
      // Nobody need propose what is refused anyway.
      if (account === undefined) return 'nobody'
      const correction = { brandId: account.brandId, playerId, reference, person, amount: toMinorUnits(amount) }
      return approverOf(db, correction, now)
    },
    async run(call, tools) {
      const { playerId, amount, reference, reason } = call.input
      const signed = toMinorUnits(amount)
      if (signed === 0n) throw invalid('body', '/amount', 'must not be zero')
      const account = await findBalanceOfPlayer(tools.db, playerId)
      if (account === undefined) throw new Rejection('PLAYER_NOT_FOUND')
      const transfer = {
        kind: signed > 0n ? ('credit' as const) : ('debit' as const),
        brandId: account.brandId,
        playerId,
        currency: account.currency,
        transferId: tools.newId('trf'),
        reference,
        type: 'ADJUSTMENT' as const,
        counterparty: 'adjustments' as const,
        amount: signed > 0n ? signed : -signed,
        reason,
      }
      return postTransfer(ledger, transfer, { operation, call, tools })
    },
  })
