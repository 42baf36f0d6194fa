import { setTimeout as pause } from 'node:timers/promises'
import { type Answer, codeOf, meaningOf, type ProviderClient } from './client.ts'
import { type Message, message, type Outcome, pathOf, type Store } from './store.ts'

/** A bet is worth this many attempts. Then the player is told that it failed, and it is taken back. */
const betAttemptsMax = 3
const firstPauseMs = 1_000
const longestPauseMs = 5 * 60_000
/** After that somebody is called. */
export const giveUpAfterMs = 72 * 3_600_000

export interface ProviderOptions {
  readonly client: ProviderClient
  readonly store: Store
  /** The game: what follows from an outcome, by its message alone, so that a restarted process finds the same. */
  readonly next?: (ended: Message, outcome: Outcome) => readonly Message[]
  readonly wait?: (ms: number) => Promise<unknown>
  readonly now?: () => number
  /** Shorter in tests. */
  readonly firstPauseMs?: number
  readonly longestPauseMs?: number
  readonly onAttempt?: (sent: Message, answer: Answer | undefined) => unknown
}

/**
 * A provider's side of the contract. A bet whose outcome is unknown is sent again a few times and then taken back; a win, a
 * rollback, a close and a spin are sent until they are answered. Nothing is sent that is not kept before.
 */
export class Provider {
  readonly store: Store
  readonly #options: ProviderOptions

  constructor(options: ProviderOptions) {
    this.#options = options
    this.store = options.store
  }

  /** Sends it and what follows from it. @returns what became of it */
  async send(one: Message): Promise<Outcome> {
    this.store.keep(one)
    return this.#end(one)
  }

  /** What the process before this one still owed. */
  async resume(): Promise<number> {
    const { owed } = this.store
    await Promise.all(owed.map((one) => this.#end(one)))
    return owed.length
  }

  async #end(one: Message): Promise<Outcome> {
    const outcome = await this.#deliver(one)
    const then = outcome.meaning === 'given up' ? [rollbackOf(one)] : (this.#options.next?.(one, outcome) ?? [])
    this.store.end(one, outcome, then)
    await Promise.all(then.map((follower) => this.#end(follower)))
    return outcome
  }

  async #deliver(one: Message): Promise<Outcome> {
    const { client, wait = pause, now = Date.now, onAttempt } = this.#options
    const from = now()
    let pauseMs = this.#options.firstPauseMs ?? firstPauseMs
    for (let attempt = 1; ; attempt += 1) {
      const answer = await client.post(pathOf[one.kind], one.body).catch(() => undefined)
      onAttempt?.(one, answer)
      const meaning = meaningOf(answer)
      if (meaning === 'done') return { meaning, result: answer?.body }
      if (meaning === 'refused') return { meaning, code: codeOf(answer), result: answer?.body?.error?.details }
      if (one.kind === 'bet' && attempt >= betAttemptsMax) return { meaning: 'given up', code: codeOf(answer) }
      if (now() - from > giveUpAfterMs)
        throw new Error(`${one.kind} ${one.id}: no answer for 72 hours; call the operator's team`)
      await wait(Math.max(pauseMs, (answer?.retryAfter ?? 0) * 1_000))
      pauseMs = Math.min(pauseMs * 2, this.#options.longestPauseMs ?? longestPauseMs)
    }
  }
}

/** It has the bet's own id, so that a restarted process takes the bet back by the same. */
export function rollbackOf(bet: Message): Message {
  const { transactionId, playerId, roundId } = JSON.parse(bet.body)
  return message('rollback', {
    transactionId,
    betTransactionId: transactionId,
    playerId,
    roundId,
    reason: 'outcome unknown',
  })
}
