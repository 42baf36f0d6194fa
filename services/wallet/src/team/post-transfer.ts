import { type operations, Rejection } from '@backoffice/contracts'
import { type Call, type QueryTools, recordAction, sqlOf } from '@backoffice/service-runtime'
import type { Posting } from '../domain/posting.ts'
import { unexpected } from '../domain/unexpected.ts'
import type { Ledger } from '../storage/ledger.ts'
import { findEntry } from '../storage/statement.ts'
import { teamEntry } from '../views/entry.ts'

type TeamTransfer = typeof operations.wallet.adjustWallet | typeof operations.wallet.reverseTransfer

/**
 * Posts a transfer of the team's and records who did it and why, in one transaction; a replay is recorded once.
 * @throws {Rejection} TRANSFER_CONFLICT, TRANSFER_ALREADY_REVERSED, INSUFFICIENT_FUNDS
 */
export async function postTransfer(
  ledger: Ledger,
  posting: Posting & { readonly kind: 'credit' | 'debit' },
  {
    operation,
    call,
    tools,
  }: { readonly operation: TeamTransfer; readonly call: Call<TeamTransfer>; readonly tools: QueryTools },
) {
  const answer = await ledger.postWith(posting, async (em, answered) => {
    if (answered.outcome === 'posted' && !answered.replayed) await recordAction(sqlOf(em), operation, call, tools.now)
  })
  if (answer.outcome === 'conflict') throw new Rejection('TRANSFER_CONFLICT')
  if (answer.outcome === 'already_reversed') throw new Rejection('TRANSFER_ALREADY_REVERSED')
  if (answer.outcome === 'insufficient_funds') throw new Rejection('INSUFFICIENT_FUNDS')
  if (answer.outcome !== 'posted') throw unexpected(answer, `the transfer ${posting.reference}`)
  const entry = await findEntry(tools.sql, answer)
  if (entry === null) throw new Error(`transfer ${answer.transferId} was posted and is not there`)
  return { ...teamEntry(entry), brandId: entry.brandId, replayed: answer.replayed }
}
