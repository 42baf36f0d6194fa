import { type Input, operations, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { ConsoleBed } from './console-bed.ts'

const { stake, creditWin, rollbackBet, closeRound, openAccount, creditAccount } = operations.wallet

export const standing = {
  ...{ status: 'ativo', kycStatus: 'aprovado', dailyLimit: '500.00', dayDeposits: '100.00', rtp: '95.00' },
} as const

/** An operator, a provider that serves a game of it, and what that provider sends. */
export async function playBed(
  { bed, newPlayer }: ConsoleBed,
  { operator = 'Aurora', provider = 'Evolution Games', environment = 'production' as 'production' | 'sandbox' } = {},
) {
  const alice = bed.team('alice')
  const made = await alice.call(operations.gateway.getOperator, { input: { name: operator } }).catch(async () => {
    await alice.call(operations.gateway.createOperator, { input: { name: operator } })
    return alice.call(operations.gateway.getOperator, { input: { name: operator } })
  })
  const brandId = made.brands.find((brand) => brand.environment === environment)?.id ?? ''
  const create = { name: provider, reason: 'a contract' }
  const { id: providerId } = await bed.agreed(operations.gateway.createProvider, { input: create })
  const grant = { providerId, brandId, grant: 'active', seen: { name: provider }, reason: 'a contract' } as const
  await bed.agreed(operations.gateway.setProviderGrant, { input: grant })
  const operatorId = made.id
  const scope: Scope = {
    ...bed.scope({ environment, operatorId, brandId }),
    provider: { id: providerId, bodyDigest: 'ab'.repeat(32) },
  }

  /** A player with money, who was never deposited any: nobody asks where it comes from. */
  async function newGambler(name = 'Ana Souza', amount = '5000.00'): Promise<string> {
    const playerId = await newPlayer(environment, name, 'doc-1', scope)
    await bed.rpc.call(openAccount, { scope, input: { playerId } }).catch(() => {})
    const effectiveAt = new Date().toISOString()
    await bed.rpc.call(creditAccount, { scope, input: { playerId, depositId: newId('dep'), amount, effectiveAt } })
    return playerId
  }

  type Bet = Input<typeof stake>['bet']
  return {
    ...{ operatorId, brandId, providerId, scope, newGambler },
    bet: (
      playerId: string,
      roundId: string,
      more: Partial<Bet> = {},
      refusedWith?: Input<typeof stake>['refusedWith'],
    ) =>
      bed.rpc.call(stake, {
        scope,
        input: {
          bet: {
            ...{ transactionId: `bet-${roundId}`, sessionId: newId('ses'), playerId, roundId, gameId: 'wallet-reels' },
            ...{ amount: '10.00', currency: 'BRL', providerTime: new Date().toISOString(), ...more },
          },
          ...(refusedWith && { refusedWith }),
          standing,
        },
      }),
    win: (playerId: string, roundId: string, amount: string, more: Partial<Input<typeof creditWin>> = {}) =>
      bed.rpc.call(creditWin, {
        scope,
        input: {
          ...{ transactionId: `win-${roundId}`, playerId, amount, currency: 'BRL', ...more },
          // A prize needs no round.
          ...(roundId === '' ? {} : { roundId }),
        },
      }),
    rollback: (playerId: string, roundId: string, betTransactionId = `bet-${roundId}`) =>
      bed.rpc.call(rollbackBet, {
        scope,
        input: { transactionId: `rollback-${betTransactionId}`, betTransactionId, playerId, roundId },
      }),
    close: (playerId: string, roundId: string) =>
      bed.rpc.call(closeRound, { scope, input: { playerId, roundId, detailsUrl: 'https://games.example/r/1' } }),
    /** Of the provider's id. */
    async roundOf(roundId: string): Promise<string> {
      const { data } = await alice.call(operations.wallet.listRounds, { input: { roundId, providerId, limit: 1 } })
      return data[0]?.id ?? ''
    },
  }
}
