import { operations, Rejection } from '@backoffice/contracts'
import { eventually, type Teardown } from '@backoffice/test-kit'
import { Client } from './client.ts'
import { Player } from './player.ts'
import type { Random } from './random.ts'
import { Receiver } from './receiver.ts'
import type { ChaosSystem } from './system.ts'

const operatorsMax = 2
const rateLimitPerMinute = 1_000_000
/** A longer history takes longer to judge, so then the clients turn to a new player. */
const operationsPerPlayer = 90

export interface Operator {
  readonly name: string
  readonly client: Client
  readonly receiver: Receiver
  readonly players: Player[]
  /** Sets a player's daily limit, in the amounts of the API. */
  readonly limit: (playerId: string, dailyDepositLimit: string) => Promise<'limited' | 'unknown'>
}

/** Two operators, each with a server for webhooks. */
export async function createOperators(
  t: Teardown,
  system: Pick<ChaosSystem, 'team' | 'baseUrls'>,
  random: Random,
  { deadline = () => Number.POSITIVE_INFINITY, named = 'operator' } = {},
): Promise<readonly Operator[]> {
  const names = Array.from({ length: operatorsMax }, (_, index) => `${named} ${index + 1}`)
  return Promise.all(
    names.map(async (name): Promise<Operator> => {
      const { receiver, url } = await Receiver.start(t, random.stream(`receiver of ${name}`))
      const input = { name, rateLimitPerMinute }
      const created = await eventually(() => system.team.call(operations.gateway.createOperator, { input }))
      const { key, secret, webhookSecret } = created.sandbox
      receiver.verifyWith(webhookSecret ?? '')
      const endpoint = { operatorId: created.operatorId, environment: 'sandbox', url } as const
      await eventually(() => system.team.call(operations.webhooks.setWebhookUrl, { input: endpoint }))
      const client = new Client(system.baseUrls, { key, secret: secret ?? '' }, deadline)
      t.teardown(() => client.close())
      const limit = (playerId: string, dailyDepositLimit: string) => {
        const input = { playerId, dailyDepositLimit }
        const set = () =>
          system.team.call(operations.players.setDailyLimit, { input }).then(() => 'limited' as const, orUnknown)
        // While a clock is wrong, nobody's login is right.
        return eventually(set)
      }
      return { name, client, receiver, players: [], limit }
    }),
  )
}

/** A player may be forgotten by a server that had not heard of it. */
function orUnknown(error: unknown): 'unknown' {
  if (error instanceof Rejection && error.code === 'PLAYER_NOT_FOUND') return 'unknown'
  throw error
}

/** Many clients at once, some of them for the same player, until they are told to stop. */
export class Load {
  #isStopped = false
  readonly #running: readonly Promise<void>[]

  constructor(
    operators: readonly Operator[],
    random: Random,
    options: { readonly players: number; readonly clientsPerPlayer: number },
  ) {
    this.#running = Array.from({ length: options.players }, async (_, place) => {
      const operator = operators[place % operators.length] as Operator
      for (let number = 1; !this.#isStopped; number += 1) {
        const name = `player ${place + 1}.${number}`
        await this.#play(operator, name, random.stream(name), options.clientsPerPlayer)
      }
    })
  }

  /** Begins nothing more. */
  end(): void {
    this.#isStopped = true
  }

  /** Resolves when every request that was begun has its answer. */
  async stop(): Promise<void> {
    this.end()
    await Promise.all(this.#running)
  }

  async #play({ client, players, limit }: Operator, name: string, random: Random, clients: number): Promise<void> {
    const player = new Player(name, client)
    players.push(player)
    await player.register(random)
    if (!player.isRegistered) return
    if (random.oneIn(2)) await player.keepTo(limit)
    await Promise.all(
      Array.from({ length: clients }, async (_, index) => {
        const own = `client ${index + 1}`
        const choices = random.stream(own)
        while (!this.#isStopped && player.history.length < operationsPerPlayer) await player.act(own, choices)
      }),
    )
  }
}
