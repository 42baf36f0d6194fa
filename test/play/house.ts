import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { BackOfficeClient } from '@backoffice/client'
import { fromMinorUnits, operations, toMinorUnits } from '@backoffice/contracts'
import {
  bookOf,
  chance,
  compareBook,
  FaultyNetwork,
  faultsOf,
  httpTransport,
  netOf,
  openSeat,
  ProviderClient,
  type Seat,
  Simulator,
  Store,
  type TeamSide,
  type Transport,
} from '@backoffice/provider-kit'
import { eventually, type Teardown, type TestBed, temporaryFolder } from '@backoffice/test-kit'
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
  readonly operator: BackOfficeClient
  readonly operatorId: string
  readonly brandId: string
  readonly system: PlaySystem

  private constructor(system: PlaySystem, made: Pick<PlayHouse, 'operator' | 'operatorId' | 'brandId'>) {
    this.system = system
    this.operator = made.operator
    this.operatorId = made.operatorId
    this.brandId = made.brandId
  }

  static async open(system: PlaySystem): Promise<PlayHouse> {
    const name = `house ${randomUUID().slice(0, 8)}`
    const { operatorId, sandbox } = await system.act(operations.gateway.createOperator, {
      input: { name, rateLimitPerMinute: 1_000_000 },
    })
    const credentials = { key: sandbox.key, secret: sandbox.secret ?? '' }
    const operator = new BackOfficeClient({ baseUrl: system.baseUrl, ...credentials, attemptsMax: 20 })
    return new PlayHouse(system, { operator, operatorId, brandId: (await operator.me()).brand.id })
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
        seats[place] = await openSeat(this.operator, gameId, amount)
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
      seat: () => openSeat(this.operator, gameId, '100.00'),
      excludePlayer: (playerId) =>
        act(operations.players.selfExcludePlayer, { input: { playerId, until: null, reason } }),
      closePlayer: (playerId) =>
        act(operations.players.setPlayerStatus, { input: { playerId, status: 'encerrado', reason } }),
      rejectKyc: (playerId) => this.operator.decideKyc(playerId, 'reprovado', { reason }),
      // Nobody waits for an hour.
      endSession: (sessionId) =>
        sql.query('update players.game_session set expires_at = created_at where id = $1', [sessionId]),
      whileSuspended: async (work) => {
        const seat = await openSeat(this.operator, gameId, '10.00')
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

/** Nobody here waits as long as a provider does. */
const pauses = { firstPauseMs: 50, longestPauseMs: 2_000 }
/** Of a hundred messages. */
const faultPercent = 10

export interface SimulatedProvider {
  readonly provider: PlayProvider
  readonly seats: readonly Seat[]
  readonly store: Store
  readonly network: FaultyNetwork
  readonly simulator: Simulator
  readonly name: string
}

interface Extent {
  readonly providers: number
  /** Of each provider. */
  readonly rounds: number
  readonly players: number
  readonly roundsAtOnce: number
}

interface Simulation {
  readonly house: PlayHouse
  readonly seed: string
  readonly extent: Extent
  /** The way to the house. */
  readonly by?: (send: Transport) => Transport
}

/** Providers with players of their own, each over a network that loses, doubles, delays and swaps its messages. */
export async function simulateProviders(
  t: Teardown,
  { house, seed, extent, by = (send) => send }: Simulation,
): Promise<readonly SimulatedProvider[]> {
  const folder = temporaryFolder(t)
  return Promise.all(
    Array.from({ length: extent.providers }, async (_, number) => {
      const provider = await house.provider(t, number)
      const seats = await house.seats(provider.gameId, extent.players / extent.providers, '200.00')
      const name = `sim${number + 1}`
      const store = Store.open(join(folder, name), { sync: false })
      const transport = by(provider.client.options.transport)
      const network = new FaultyNetwork(transport, faultsOf(faultPercent, chance(seed, `faults of ${name}`)))
      const client = provider.client.with({ transport: network.send })
      const { rounds, roundsAtOnce } = extent
      const simulator = new Simulator({ client, store, seats, seed, name, rounds, roundsAtOnce, ...pauses })
      return { provider, seats, store, network, simulator, name }
    }),
  )
}

const playTypes = ['BET', 'WIN', 'ROLLBACK', 'JACKPOT', 'PROMOTION']

/**
 * Holds every simulator's book against ours: rounds, transactions, statements and house accounts, to the cent.
 * @returns a line for each difference
 */
export async function compareBooks(
  { operator, system, brandId }: PlayHouse,
  simulated: readonly SimulatedProvider[],
): Promise<readonly string[]> {
  const problems: string[] = []
  const statementOf = async (playerId: string) => {
    let sum = 0n
    for await (const { type, amount } of operator.transactions(playerId))
      if (playTypes.includes(type)) sum += toMinorUnits(amount)
    return sum
  }
  for (const { provider, store } of simulated) {
    problems.push(...(await compareBook(provider.client, store.entries, { statementOf })))
    // The accounts of a provider together lose what its players win.
    const { rows } = await system.sql.query<{ sum: string }>(
      `select coalesce(sum(e.amount), 0)::text as sum from wallet.account a join wallet.entry e on e.account_id = a.id
        where a.brand_id = $1 and a.party = $2`,
      [brandId, provider.id],
    )
    const ours = BigInt(rows[0]?.sum ?? 0)
    const theirs = [...bookOf(store.entries).players.values()].reduce((sum, one) => sum - netOf(one), 0n)
    if (ours !== theirs)
      problems.push(`house of ${provider.id}: ${fromMinorUnits(theirs)} there, ${fromMinorUnits(ours)} here`)
  }
  const { rows } = await system.sql.query(
    `select provider_round_id from wallet.round where brand_id = $1 and state = 'open'`,
    [brandId],
  )
  return [...problems, ...rows.map((row) => `round ${row.provider_round_id} is open`)]
}

/** For whoever reads the output: what the run was made of. */
export const describe = (simulated: readonly SimulatedProvider[]): string =>
  JSON.stringify({
    messages: simulated.reduce((sum, { store }) => sum + store.entries.length, 0),
    faults: simulated.map(({ network }) => network.counts),
  })
