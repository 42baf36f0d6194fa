import { randomUUID } from 'node:crypto'
import { eventually, type HttpReply, type OperatorClient } from '@backoffice/test-kit'
import { depositRequest, playerRequest } from '../journey.ts'

/** A request that changes something: how the operator sent it, and when. Times are of the machine's clock. */
interface Sent {
  readonly path: string
  readonly key: string
  readonly sentAt: number
  /** Infinite until it is answered. */
  answeredAt: number
}

/** A deposit as the operator has it in its own records. */
export interface BookedDeposit {
  readonly playerId: string
  readonly id: string
  readonly amount: string
  readonly confirmation: Sent
}

const depositsPerPlayer = 4

/** Clients of one operator that register players and deposit for them, and the book that they keep of it. */
export class Book {
  readonly deposits: BookedDeposit[] = []
  readonly #client: OperatorClient
  readonly #running: readonly Promise<void>[]
  #isStopped = false

  constructor(client: OperatorClient, clients: number) {
    this.#client = client
    this.#running = Array.from({ length: clients }, (_, index) => this.#play(index))
  }

  /** Deposits whose confirmation was sent after a moment and answered. */
  confirmedSince(moment: number): number {
    return this.deposits.filter(
      ({ confirmation: { sentAt, answeredAt } }) => sentAt > moment && Number.isFinite(answeredAt),
    ).length
  }

  /** Resolves when every request that was begun has its answer. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#running)
  }

  /** Sends a confirmation once more, as it was. */
  confirmAgain({ confirmation: { path, key } }: BookedDeposit): Promise<HttpReply> {
    return this.#answered(path, {}, key)
  }

  async #play(index: number): Promise<void> {
    while (!this.#isStopped) {
      const player = await this.#post('/players', playerRequest())
      for (let count = 0; count < depositsPerPlayer && !this.#isStopped; count += 1) {
        const amount = `${index + 1}.${10 + count}`
        const { id } = await this.#post(`/players/${player.id}/deposits`, depositRequest(amount))
        const path = `/deposits/${id}/confirm`
        const times = { sentAt: Date.now(), answeredAt: Number.POSITIVE_INFINITY }
        const confirmation: Sent = { path, key: randomUUID(), ...times }
        this.deposits.push({ playerId: player.id, id, amount, confirmation })
        await this.#post(path, {}, confirmation.key)
        confirmation.answeredAt = Date.now()
      }
    }
  }

  /** Repeats a request under its key until it has an answer that stays. */
  #answered(path: string, body: unknown, idempotencyKey: string): Promise<HttpReply> {
    return eventually(async () => {
      const reply = await this.#client.post(path, body, { idempotencyKey })
      if (reply.status >= 500) throw new Error(`${path}: ${reply.status} ${reply.bytes}`)
      return reply
    })
  }

  async #post(path: string, body: object, key: string = randomUUID()) {
    const reply = await this.#answered(path, body, key)
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.bytes}`)
    return reply.body
  }
}
