import { operations, Rejection } from '@backoffice/contracts'
import {
  acknowledge,
  eventually,
  type Received,
  replyWith,
  startReceiver,
  type Teardown,
  verifies,
} from '@backoffice/test-kit'
import { Client } from './client.ts'
import { Player } from './player.ts'
import type { Random } from './random.ts'
import type { ChaosSystem } from './system.ts'

/** An event that was answered with 2xx. */
export interface ReceivedEvent {
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** An operator's server for webhooks. Now and then it answers 500, or hangs up without an answer. */
export class Receiver {
  /** By event id. */
  readonly events = new Map<string, ReceivedEvent>()
  /** What a delivery should never be. */
  readonly problems: string[] = []
  deliveries = 0
  #secret = ''

  /** @returns the receiver and its URL */
  static async start(t: Teardown, random: Random): Promise<{ readonly receiver: Receiver; readonly url: string }> {
    const receiver = new Receiver()
    const { url } = await startReceiver(t, (response, delivery, request) => {
      receiver.deliveries += 1
      if (random.oneIn(10)) replyWith(500)(response, delivery, request)
      else if (random.oneIn(20)) response.destroy()
      else {
        receiver.#take(delivery)
        acknowledge(response, delivery, request)
      }
    })
    return { receiver, url }
  }

  verifyWith(secret: string): void {
    this.#secret = secret
  }

  #take(delivery: Received): void {
    const event = JSON.parse(delivery.body) as ReceivedEvent
    if (!verifies(delivery, this.#secret)) this.problems.push(`${event.id} is wrongly signed`)
    if (delivery.id !== event.id) this.problems.push(`${event.id} came under another id`)
    const known = this.events.get(event.id)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(event)) {
      this.problems.push(`${event.id} came with two contents`)
    }
    this.events.set(event.id, event)
  }
}

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
