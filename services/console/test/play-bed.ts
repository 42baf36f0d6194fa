import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { playerOf, playOf } from '@backoffice/test-kit'
import type { ConsoleBed } from './console-bed.ts'

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
  const scope = bed.scope({ environment, operatorId, brandId })

  /** A player with money, who was never deposited any: nobody asks where it comes from. */
  async function newGambler(name = 'Ana Souza', money = '5000.00'): Promise<string> {
    const playerId = await newPlayer(environment, name, 'doc-1', scope)
    await playerOf(bed, scope, { playerId, money })
    return playerId
  }

  const of = (playerId: string) => playOf(bed, scope, { playerId, provider: providerId })
  type Sent = ReturnType<typeof of>
  return {
    ...{ operatorId, brandId, providerId, scope, newGambler },
    bet: (playerId: string, roundId: string, more: Parameters<Sent['bet']>[2] = {}) => {
      const said = { roundId, sessionId: newId('ses'), providerTime: new Date().toISOString(), standing }
      return of(playerId).bet(`bet-${roundId}`, '10.00', { ...said, ...more })
    },
    /** A prize needs no round. */
    win: (playerId: string, roundId: string, amount: string, more: Parameters<Sent['win']>[2] = {}) =>
      of(playerId).win(`win-${roundId}`, amount, { roundId: roundId === '' ? undefined : roundId, ...more }),
    rollback: (playerId: string, roundId: string, betTransactionId = `bet-${roundId}`) =>
      of(playerId).rollback(`rollback-${betTransactionId}`, betTransactionId, { roundId }),
    close: (playerId: string, roundId: string) =>
      of(playerId).close(roundId, { detailsUrl: 'https://games.example/r/1' }),
    /** Of the provider's id. */
    async roundOf(roundId: string): Promise<string> {
      const { data } = await alice.call(operations.wallet.listRounds, { input: { roundId, providerId, limit: 1 } })
      return data[0]?.id ?? ''
    },
  }
}
