import { type Input, operations, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { TestBed } from './test-bed.ts'

const { stake, creditWin, rollbackBet, closeRound, openAccount, creditAccount } = operations.wallet
/** What is undefined is left out. */
type OwnWin = { readonly [Name in keyof Input<typeof creditWin>]?: Input<typeof creditWin>[Name] | undefined }
type OwnBet = Partial<Input<typeof stake>['bet']> & Partial<Pick<Input<typeof stake>, 'refusedWith' | 'standing'>>

interface Seat {
  readonly playerId: string
  readonly provider?: string
  readonly bodyDigest?: string
  /** Where nothing else is said. */
  readonly roundId?: string
}

/** What a provider of games may send about a player, as the gateway and players hand it to the wallet. */
export function playOf(
  { rpc }: Pick<TestBed<unknown>, 'rpc'>,
  brand: Scope,
  { playerId, provider = 'prv_one', bodyDigest = 'ab'.repeat(32), roundId: usual = 'round-1' }: Seat,
) {
  const scope = { ...brand, provider: { id: provider, bodyDigest } }
  const named = { playerId, roundId: usual }
  const of = { ...named, currency: scope.currency }
  return {
    bet(transactionId: string, amount: string, { refusedWith, standing = null, ...own }: OwnBet = {}) {
      const bet = { ...of, gameId: 'wallet-reels', sessionId: 'ses_1', transactionId, amount, ...own }
      return rpc.call(stake, { scope, input: { bet, standing, ...(refusedWith && { refusedWith }) } })
    },
    win: (transactionId: string, amount: string, own: OwnWin = {}) =>
      rpc.call(creditWin, { scope, input: { ...of, transactionId, amount, ...own } as Input<typeof creditWin> }),
    rollback: (transactionId: string, betTransactionId: string, own: Partial<Input<typeof rollbackBet>> = {}) =>
      rpc.call(rollbackBet, { scope, input: { ...named, transactionId, betTransactionId, ...own } }),
    close: (roundId = usual, own: Partial<Input<typeof closeRound>> = {}) =>
      rpc.call(closeRound, { scope, input: { playerId, roundId, ...own } }),
  }
}

/** The same of a new player with money, who is known to the wallet alone. */
export async function playerOf(
  bed: Pick<TestBed<unknown>, 'rpc'>,
  scope: Scope,
  { playerId = newId('ply'), money = '1000.00', ...seat }: Partial<Seat> & { readonly money?: string } = {},
) {
  await bed.rpc.call(openAccount, { scope, input: { playerId } })
  const deposit = { depositId: newId('dep'), amount: money, effectiveAt: '2026-01-01T00:00:00.000Z' }
  if (money !== '0.00') await bed.rpc.call(creditAccount, { scope, input: { playerId, ...deposit } })
  return { playerId, ...playOf(bed, scope, { playerId, ...seat }) }
}
