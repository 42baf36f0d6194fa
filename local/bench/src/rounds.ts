import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { operations } from '@backoffice/contracts'
import {
  httpTransport,
  type Message,
  message,
  openSeat,
  ProviderClient,
  pathOf,
  type Seat,
} from '@backoffice/provider-kit'
import type { Sample } from './figures.ts'
import { closedLoop, type Load, type Work } from './load.ts'
import type { Options } from './options.ts'
import { type Subject, withSql } from './subject.ts'

const gameId = 'lucky-tiger'
/** No load here reaches it. */
const perMinuteMax = 10_000_000
/** Of each player: more than a run stakes. */
const deposit = '9000.00'
const opensAtOnce = 8

/** Players at a provider's game, and its client. */
interface Tables {
  readonly client: ProviderClient
  readonly seats: readonly Seat[]
}

/** @returns undefined for a release without providers */
export async function openTables(
  { team, scope, sandbox, providerUrl }: Subject,
  players: number,
  ending: AsyncDisposableStack,
): Promise<Tables | undefined> {
  if (providerUrl === undefined) return undefined
  const name = `bench ${randomUUID().slice(0, 13)}`
  const limits = { stakesPerMinute: perMinuteMax, othersPerMinute: perMinuteMax }
  const { id: providerId } = await team.call(operations.gateway.createProvider, { input: { name, ...limits } })
  const grant = { providerId, brandId: scope.brandId, grant: 'active' } as const
  await team.call(operations.gateway.setProviderGrant, { input: grant })
  const issued = await team.call(operations.gateway.issueProviderKey, { input: { providerId, environment: 'sandbox' } })
  await team.call(operations.players.setGameProvider, { input: { gameId, providerId } })
  const http = httpTransport(30_000)
  ending.defer(() => http.close())
  const { key, secret } = { key: issued.key, secret: issued.secret ?? '' }
  const client = new ProviderClient({ url: providerUrl, brandId: scope.brandId, key, secret, transport: http.send })
  const seats: Seat[] = []
  const open = async () => {
    while (seats.length < players) seats.push(await openSeat(sandbox, gameId, deposit))
  }
  await Promise.all(Array.from({ length: opensAtOnce }, open))
  return { client, seats }
}

/** What a provider does with its players, another one each time. */
export function playing({ client, seats }: Tables) {
  let turn = 0
  const next = () => seats[turn++ % seats.length] as Seat
  const send = async (load: Load, one: Message) => {
    const sentAtMs = performance.now()
    const answer = await client.post(pathOf[one.kind], one.body).catch((error: Error) => error)
    if (answer instanceof Error) return load.failed(`${one.kind}: ${answer.message}`)
    load.replied(sentAtMs)
    if (answer.status !== 200) load.failed(`${one.kind}: ${answer.status} ${answer.body?.error?.code ?? ''}`)
  }
  const staked = (seat: Seat) => {
    const id = randomUUID()
    return { ...seat, transactionId: `bet-${id}`, roundId: `round-${id}`, amount: '0.10' }
  }
  const round: Work = async (load) => {
    const bet = staked(next())
    await send(load, message('bet', bet))
    const { playerId, roundId, currency } = bet
    const won = { transactionId: bet.transactionId, playerId, roundId, currency, amount: '0.10', roundEnds: true }
    await send(load, message('win', won))
  }
  const bet: Work = (load) => send(load, message('bet', { ...staked(next()), roundEnds: true }))
  const spinOf = (load: Load, seat: Seat) => send(load, message('spin', { ...staked(seat), win: '0.10' }))
  const spin: Work = (load) => spinOf(load, next())
  /** One after the other, each so long after the one before, or at once where that one took longer. */
  const turbo = (perSecond: number): Work => {
    const seat = next()
    return async (load) => void (await Promise.all([spinOf(load, seat), wait(1_000 / perSecond)]))
  }
  return { round, bet, spin, turbo }
}

const tables = ['play', 'round', 'transfer', 'entry']
const clients = 16

/** What rounds add to the wallet's tables and their indexes, and to the log. */
export async function measureRoundBytes(
  { postgresUrl }: Subject,
  round: Work,
  { windowMs }: Pick<Options, 'windowMs'>,
): Promise<Sample> {
  const look = () =>
    withSql(postgresUrl, async (client) => {
      const sizes = tables.map((name) => `pg_total_relation_size('wallet.${name}')`).join(' + ')
      const { rows } = await client.query<{ bytes: string; log: string; rounds: string }>(
        `select (${sizes})::text as bytes, (pg_current_wal_lsn() - '0/0')::text as log,
          (select count(*) from wallet.round)::text as rounds`,
      )
      const { bytes, log, rounds } = rows[0] ?? {}
      return { bytes: Number(bytes), log: Number(log), rounds: Number(rounds) }
    })
  const before = await look()
  const load = await closedLoop({ clients, warmUpMs: 0, windowMs }, round)
  const after = await look()
  const rounds = after.rounds - before.rounds
  const figures = { bytes: (after.bytes - before.bytes) / rounds, logBytes: (after.log - before.log) / rounds }
  return { figures, failures: Object.fromEntries(load.failures) }
}
