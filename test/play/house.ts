import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import {
  httpTransport,
  ProviderClient,
  SandboxOperator,
  type Seat,
  type TeamSide,
  type Transport,
} from '@backoffice/provider-kit'
import { eventually, OperatorClient, type Teardown, type TestBed } from '@backoffice/test-kit'
import type pg from 'pg'

/** A running system, as far as play needs it. */
export interface PlaySystem {
  /** With the /api/v1 prefix. */
  readonly baseUrl: string
  readonly providerUrl: string
  /** Calls what the team may do, also where it takes two people. */
  readonly act: TestBed<unknown>['agreed']
  /** Of the superuser, for what only time does. */
  readonly sql: pg.Pool
}

const rateMax = 10_000_000
/** Games of the catalogue, each of which one provider serves. */
const gamesOfProviders = ['wallet-reels', 'lucky-tiger', 'fortune-reels', 'amazon-gold'] as const

/** An operator whose sandbox providers of games play in. */
export class PlayHouse {
  readonly operator: SandboxOperator
  readonly client: OperatorClient
  readonly operatorId: string
  readonly brandId: string
  readonly system: PlaySystem

  private constructor(system: PlaySystem, made: Pick<PlayHouse, 'operator' | 'client' | 'operatorId' | 'brandId'>) {
    this.system = system
    this.operator = made.operator
    this.client = made.client
    this.operatorId = made.operatorId
    this.brandId = made.brandId
  }

  static async open(t: Teardown, system: PlaySystem): Promise<PlayHouse> {
    const name = `house ${randomUUID().slice(0, 8)}`
    const { operatorId, sandbox } = await system.act(operations.gateway.createOperator, {
      input: { name, rateLimitPerMinute: 1_000_000 },
    })
    const credentials = { key: sandbox.key, secret: sandbox.secret ?? '' }
    const operator = new SandboxOperator(system.baseUrl, credentials)
    const client = new OperatorClient(system.baseUrl, credentials)
    t.teardown(() => {
      operator.close()
      client.close()
    })
    return new PlayHouse(system, { operator, client, operatorId, brandId: await operator.brandId() })
  }

  /** A provider that was granted the brand. @param number of the game that it serves; none: it serves no game */
  async provider(t: Teardown, number?: number): Promise<PlayProvider> {
    const { act } = this.system
    const name = `provider ${randomUUID().slice(0, 8)}`
    const limits = { stakesPerMinute: rateMax, othersPerMinute: rateMax }
    const { id } = await act(operations.gateway.createProvider, { input: { name, ...limits } })
    await act(operations.gateway.setProviderGrant, {
      input: { providerId: id, brandId: this.brandId, grant: 'active' },
    })
    const key = await this.issueKey(id)
    const gameId = number === undefined ? '' : (gamesOfProviders[number] ?? '')
    if (gameId !== '') await act(operations.players.setGameProvider, { input: { gameId, providerId: id } })
    const http = httpTransport()
    t.teardown(() => http.close())
    const client = new ProviderClient({
      url: this.system.providerUrl,
      brandId: this.brandId,
      ...key,
      transport: http.send,
    })
    return { id, gameId, client }
  }

  async issueKey(providerId: string) {
    const input = { providerId, environment: 'sandbox' } as const
    const { key, secret } = await this.system.act(operations.gateway.issueProviderKey, { input })
    return { key, secret: secret ?? '' }
  }

  async seats(gameId: string, count: number, amount = '500.00'): Promise<readonly Seat[]> {
    const seats: Seat[] = []
    const open = async () => {
      while (seats.length < count) {
        const place = seats.push(undefined as never) - 1
        seats[place] = await this.operator.openSeat(gameId, amount)
      }
    }
    await Promise.all(Array.from({ length: 4 }, open))
    return seats
  }

  /** What the cases of a provider's client ask for. */
  teamSide({ id: providerId, gameId, client }: PlayProvider): TeamSide {
    const { act, sql } = this.system
    const { brandId, operatorId } = this
    const reason = 'a case of the provider kit'
    /** Every replica learns of it within a second: seen by bets of somebody else. */
    const untilSuspended = (seat: Seat, isSuspended: boolean) =>
      eventually(async () => {
        const id = randomUUID()
        const bet = { ...seat, transactionId: id, roundId: id, amount: '0.01', roundEnds: true }
        const { body } = await client.post('/bets', JSON.stringify(bet))
        return (body?.error?.code === 'OPERATOR_SUSPENDED') === isSuspended
      })
    return {
      seat: () => this.operator.openSeat(gameId, '100.00'),
      excludePlayer: (playerId) =>
        act(operations.players.selfExcludePlayer, { input: { playerId, until: null, reason } }),
      closePlayer: (playerId) =>
        act(operations.players.setPlayerStatus, { input: { playerId, status: 'encerrado', reason } }),
      rejectKyc: (playerId) =>
        this.client.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'reprovado', reason }),
      // Nobody waits for an hour.
      endSession: (sessionId) =>
        sql.query('update players.game_session set expires_at = created_at where id = $1', [sessionId]),
      whileSuspended: async (work) => {
        const seat = await this.operator.openSeat(gameId, '10.00')
        await act(operations.gateway.suspendOperator, { input: { operatorId, reason } })
        try {
          await untilSuspended(seat, true)
          await work()
        } finally {
          await act(operations.gateway.activateOperator, { input: { operatorId, reason } })
          await untilSuspended(seat, false)
        }
      },
      issueKey: () => this.issueKey(providerId),
      revokeKey: (key) => act(operations.gateway.revokeProviderKey, { input: { key, reason } }),
      limitWins: (maxWin) => act(operations.wallet.setWinLimit, { input: { providerId, brandId, maxWin, reason } }),
      releaseWin: (transactionId) =>
        act(operations.wallet.releaseWin, { input: { providerId, brandId, transactionId, reason } }),
    }
  }
}

export interface PlayProvider {
  readonly id: string
  readonly gameId: string
  readonly client: ProviderClient
}

/** The same client over another network. */
export const over = ({ client }: PlayProvider, transport: Transport) => client.with({ transport })
