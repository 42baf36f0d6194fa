import { fromMinorUnits, invalid, type operations, Rejection } from '@backoffice/contracts'
import { type Call, type DirectTools, type ReadDb, recordAction } from '@backoffice/service-runtime'
import type { Posting } from '../domain/posting.ts'
import { unexpected } from '../domain/unexpected.ts'
import { findEntry } from '../storage/statement.ts'
import { teamEntry } from '../views/entry.ts'
import type { Ledger } from './ledger.ts'

type TeamTransfer = typeof operations.wallet.adjustWallet | typeof operations.wallet.reverseTransfer

/**
 * Posts a transfer by the team and records who did it and why, in one transaction. A replay is not recorded again.
 * @throws {Rejection} TRANSFER_CONFLICT, TRANSFER_ALREADY_REVERSED, INSUFFICIENT_FUNDS, VALIDATION_ERROR (the balance
 *   would be higher than the team may take it), SERVICE_UNAVAILABLE (another correction by the same person was faster, and
 *   with it this one may take two people: the next attempt sees it)
 */
export async function postTransfer(
  ledger: Ledger,
  posting: Posting & { readonly kind: 'credit' | 'debit' },
  {
    operation,
    call,
    tools,
  }: {
    readonly operation: TeamTransfer
    readonly call: Call<TeamTransfer>
    readonly tools: DirectTools
  },
) {
  const result = await ledger.post(posting, async (db, reached, now) => {
    if (reached.outcome !== 'posted' || reached.replayed) return
    const { amount: change, balance } = await requireEntry(db, reached.transferId)
    const changes = [{ field: 'balance', before: fromMinorUnits(balance - change), after: fromMinorUnits(balance) }]
    await recordAction(db, operation, call, now, { changes })
    // Under the lock of the account, where corrections of one player come one after another.
    await tools.approveAgain(db, now)
  })
  if (result.outcome === 'conflict') throw new Rejection('TRANSFER_CONFLICT')
  if (result.outcome === 'already_reversed') throw new Rejection('TRANSFER_ALREADY_REVERSED')
  if (result.outcome === 'insufficient_funds') throw new Rejection('INSUFFICIENT_FUNDS')
  if (result.outcome === 'balance_limit')
    throw invalid(
      'body',
      'amount' in call.input ? '/amount' : '/transferId',
      'must not take the balance above its limit',
    )
  if (result.outcome !== 'posted') throw unexpected(result, `the transfer ${posting.reference}`)
  const entry = await requireEntry(tools.db, result.transferId)
  return { ...teamEntry(entry), brandId: entry.brandId, replayed: result.replayed }
}

async function requireEntry(db: ReadDb, transferId: string) {
  const entry = await findEntry(db, transferId)
  if (entry === undefined) throw new Error(`transfer ${transferId} was posted and is not there`)
  return entry
}
