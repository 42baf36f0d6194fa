import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Answer, codeOf, type ProviderClient } from './client.ts'
import { type Fault, FaultyNetwork } from './network.ts'
import { Provider, type ProviderOptions } from './provider.ts'
import type { Seat } from './simulator.ts'
import { type Message, message, type Outcome, pathOf, Store } from './store.ts'

/** What only the operator's side can bring about. */
export interface TeamSide {
  /** A player of their own, with money and an open session. */
  seat(): Promise<Seat>
  excludePlayer(playerId: string): Promise<unknown>
  closePlayer(playerId: string): Promise<unknown>
  rejectKyc(playerId: string): Promise<unknown>
  endSession(sessionId: string): Promise<unknown>
  /** While the work runs. */
  whileSuspended(work: () => Promise<void>): Promise<unknown>
  /** Another key beside the first, and the end of one. */
  issueKey(): Promise<{ readonly key: string; readonly secret: string }>
  revokeKey(key: string): Promise<unknown>
  /** From now on a win above it waits. */
  limitWins(amount: string): Promise<unknown>
  releaseWin(transactionId: string, win: { readonly playerId: string; readonly amount: string }): Promise<unknown>
}

/** @throws what a case then says */
export function expect(holds: unknown, what: string): asserts holds {
  if (!holds) throw new Error(what)
}

/** What a case has: a player, a client, and what it has sent. */
export class Trial {
  readonly client: ProviderClient
  readonly seat: Seat
  /** The waits that the client took, in milliseconds; none of them is waited for. */
  readonly waits: number[] = []
  readonly answers: (Answer | undefined)[] = []
  readonly #names: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'provider-kit-'))
  readonly #stores: Store[] = []
  #count = 0
  #elapsedMs = 0

  /** @param names what its ids begin with */
  constructor(client: ProviderClient, seat: Seat, names: string) {
    this.client = client
    this.seat = seat
    this.#names = names
  }

  /** A provider whose first attempts meet these faults, one each. */
  provider(faults: readonly Fault[] = [], options: Partial<ProviderOptions> = {}, file = 'store'): Provider {
    const store = Store.open(join(this.#folder, file), { sync: false })
    this.#stores.push(store)
    const left = [...faults]
    const { send: transport } = new FaultyNetwork(this.client.options.transport, () => left.shift())
    const client = this.client.with({ transport })
    return new Provider({
      client,
      store,
      now: () => Date.now() + this.#elapsedMs,
      wait: async (ms) => {
        this.waits.push(ms)
        this.#elapsedMs += ms
      },
      onAttempt: (_sent, answer) => this.answers.push(answer),
      ...options,
    })
  }

  /** All that was sent through its providers. */
  get entries() {
    return this.#stores.flatMap(({ entries }) => entries)
  }

  id(what: string): string {
    this.#count += 1
    return `${this.#names}-${what}-${this.#count}`
  }

  bet(amount: string, fields: Readonly<Record<string, unknown>> = {}): Message {
    return message('bet', { ...this.seat, transactionId: this.id('bet'), roundId: this.id('round'), amount, ...fields })
  }

  spin(amount: string, win: string): Message {
    return { ...this.bet(amount, { win }), kind: 'spin' }
  }

  win(bet: Message, amount: string, fields: Readonly<Record<string, unknown>> = {}): Message {
    const { playerId, currency } = this.seat
    const { roundId } = JSON.parse(bet.body)
    return message('win', { transactionId: this.id('win'), playerId, roundId, amount, currency, ...fields })
  }

  close(bet: Message): Message {
    const { playerId, roundId } = JSON.parse(bet.body)
    return message('close', { playerId, roundId })
  }

  /** Sends it once, as it is. */
  once(one: Message): Promise<Answer> {
    return this.client.post(pathOf[one.kind], one.body)
  }

  async balance(): Promise<string> {
    const { status, body } = await this.client.get(`/sessions/${this.seat.sessionId}`)
    expect(status === 200, `the session was answered with ${status} ${body?.error?.code}`)
    return body.balance
  }

  end(): void {
    for (const store of this.#stores) store.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** @throws unless it was done. @returns the reply */
export function done({ meaning, code, result }: Outcome) {
  expect(meaning === 'done', `it was ${meaning} ${code ?? ''}`)
  return result
}

/** @throws unless it was refused so */
export function refused({ meaning, code }: Outcome, expected: string): void {
  expect(meaning === 'refused' && code === expected, `expected ${expected}, not ${meaning} ${code ?? ''}`)
}

export function answered(answer: Answer, status: number, code?: string): void {
  expect(
    answer.status === status && codeOf(answer) === code,
    `expected ${status} ${code ?? ''}, not ${answer.status} ${codeOf(answer) ?? ''}`,
  )
}
