import { join } from 'node:path'
import { fromMinorUnits, toMinorUnits } from '@backoffice/contracts'
import {
  type Book,
  bookOf,
  chance,
  compareRounds,
  compareTransactions,
  daysAround,
  FaultyNetwork,
  netOf,
  type Seat,
  Simulator,
  Store,
  type Transport,
} from '@backoffice/provider-kit'
import { type Teardown, temporaryFolder } from '@backoffice/test-kit'
import { over, type PlayHouse, type PlayProvider } from './house.ts'

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
      const network = new FaultyNetwork(transport, { percent: faultPercent, random: chance(seed, `faults of ${name}`) })
      const client = over(provider, network.send)
      const { rounds, roundsAtOnce } = extent
      const simulator = new Simulator({ client, store, seats, seed, name, rounds, roundsAtOnce, ...pauses })
      return { provider, seats, store, network, simulator, name }
    }),
  )
}

/**
 * Holds every simulator's book against ours: rounds, transactions, statements and house accounts, to the cent.
 * @returns a line for each difference
 */
export async function compareBooks(
  house: PlayHouse,
  simulated: readonly SimulatedProvider[],
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const { provider, store, name, seats } of simulated) {
    const book = bookOf(store.entries)
    if (book.owed > 0) problems.push(`${name} owes ${book.owed} messages`)
    problems.push(...(await compareRounds(provider.client, book, daysAround())))
    problems.push(...(await compareTransactions(provider.client, store.entries)))
    for (const { playerId } of seats) problems.push(...(await compareStatement(house, book, playerId)))
    problems.push(...(await compareHouse(house, provider.id, book)))
  }
  const { rows } = await house.system.sql.query(
    `select provider_round_id from wallet.round where brand_id = $1 and state = 'open'`,
    [house.brandId],
  )
  return [...problems, ...rows.map((row) => `round ${row.provider_round_id} is open`)]
}

const playTypes = ['BET', 'WIN', 'ROLLBACK', 'JACKPOT', 'PROMOTION']

async function compareStatement(house: PlayHouse, book: Book, playerId: string): Promise<readonly string[]> {
  const items = await house.operator.statement(playerId)
  const theirs = items
    .filter(({ type }) => playTypes.includes(type))
    .reduce((sum, { amount }) => sum + toMinorUnits(amount), 0n)
  const sums = book.players.get(playerId)
  const ours = sums === undefined ? 0n : netOf(sums)
  return ours === theirs
    ? []
    : [`statement of ${playerId}: ${fromMinorUnits(ours)} there, ${fromMinorUnits(theirs)} here`]
}

/** The accounts of a provider together lose what its players win. */
async function compareHouse(house: PlayHouse, providerId: string, book: Book): Promise<readonly string[]> {
  const { rows } = await house.system.sql.query<{ sum: string }>(
    `select coalesce(sum(e.amount), 0)::text as sum from wallet.account a join wallet.entry e on e.account_id = a.id
      where a.brand_id = $1 and a.party = $2`,
    [house.brandId, providerId],
  )
  const ours = BigInt(rows[0]?.sum ?? 0)
  const theirs = [...book.players.values()].reduce((sum, one) => sum - netOf(one), 0n)
  return ours === theirs
    ? []
    : [`house of ${providerId}: ${fromMinorUnits(theirs)} there, ${fromMinorUnits(ours)} here`]
}

/** For whoever reads the output: what the run was made of. */
export const describe = (simulated: readonly SimulatedProvider[]): string =>
  JSON.stringify({
    messages: simulated.reduce((sum, { store }) => sum + store.entries.length, 0),
    faults: simulated.map(({ network }) => network.counts),
  })
