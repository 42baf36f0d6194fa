import { type Input, operations, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { TestBed } from '@backoffice/test-kit'

const { stake, creditWin, rollbackBet, closeRound, openAccount, creditAccount } = operations.wallet
type Own<O extends typeof stake | typeof creditWin | typeof rollbackBet> = Partial<
  O extends typeof stake ? Input<typeof stake>['bet'] : Input<O>
>

/** A player with 1,000.00, and what a provider may send about that player. */
export async function playerOf(
  bed: Pick<TestBed<unknown>, 'rpc'>,
  brand: Scope,
  {
    provider = 'prv_one',
    bodyDigest = 'ab'.repeat(32),
  }: { readonly provider?: string; readonly bodyDigest?: string } = {},
) {
  const playerId = newId('ply')
  const scope = { ...brand, provider: { id: provider, bodyDigest } }
  await bed.rpc.call(openAccount, { scope, input: { playerId } })
  const deposit = { depositId: newId('dep'), amount: '1000.00', effectiveAt: '2026-01-01T00:00:00.000Z' }
  await bed.rpc.call(creditAccount, { scope, input: { playerId, ...deposit } })
  const named = { playerId, roundId: 'round-1' }
  const of = { ...named, currency: scope.currency }
  return {
    playerId,
    bet(
      transactionId: string,
      amount: string,
      {
        refusedWith,
        standing = null,
        ...own
      }: Own<typeof stake> & Partial<Pick<Input<typeof stake>, 'refusedWith' | 'standing'>> = {},
    ) {
      const bet = { ...of, gameId: 'wallet-reels', sessionId: 'ses_1', transactionId, amount, ...own }
      return bed.rpc.call(stake, { scope, input: { bet, standing, ...(refusedWith && { refusedWith }) } })
    },
    win: (transactionId: string, amount: string, own: Own<typeof creditWin> = {}) =>
      bed.rpc.call(creditWin, { scope, input: { ...of, transactionId, amount, ...own } }),
    rollback: (transactionId: string, betTransactionId: string, own: Own<typeof rollbackBet> = {}) =>
      bed.rpc.call(rollbackBet, { scope, input: { ...named, transactionId, betTransactionId, ...own } }),
    close: (roundId = 'round-1') => bed.rpc.call(closeRound, { scope, input: { playerId, roundId } }),
  }
}
