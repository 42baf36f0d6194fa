import { Rejection, type ServiceName } from '@backoffice/contracts'
import { eventually } from '@backoffice/test-kit'
import type { Test } from 'tap'
import { type MoneyPath, moneyPath } from '../money-path.ts'
import { type Choose, Interleaver, type Turn } from './interleaver.ts'
import { violations } from './invariants.ts'
import { type Pair, Players } from './money-races.ts'

interface Answer {
  /** `done`, or the code of a refusal. */
  readonly code: string
  /** What was said too early: the wallet had not done its part of what a refusal speaks of. */
  readonly early: readonly string[]
}

/** Several replicas whose steps a scheduler releases one at a time, on one database. */
export class Interleavings {
  readonly #interleaver: Interleaver
  readonly #sides: readonly MoneyPath[]
  readonly #path: MoneyPath
  readonly #players: Players

  private constructor(interleaver: Interleaver, sides: readonly MoneyPath[]) {
    this.#interleaver = interleaver
    this.#sides = sides
    this.#path = sides[0] as MoneyPath
    this.#players = new Players(this.#path)
  }

  /**
   * Each side has replicas and a broker of its own, so a call to a side runs there. All share the database of the first.
   * @param t the file's own test
   */
  static async start(t: Test, sides: number): Promise<Interleavings> {
    const started: MoneyPath[] = []
    const countLocked = async () => {
      const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return (await started[0]?.bed.sql('admin').query({ name: 'locked', text }))?.rowCount ?? 0
    }
    const interleaver = new Interleaver(sides, countLocked)
    for (let index = 0; index < sides; index++) {
      const shared = (name: ServiceName): Record<string, string> => {
        const url = started[0]?.bed.environment(name).DATABASE_URL
        return url === undefined ? {} : { DATABASE_URL: url }
      }
      const config = {
        players: shared('players'),
        payments: shared('payments'),
        wallet: { CHECKPOINT_EVERY_MS: 3_600_000, ...shared('wallet') },
      }
      started.push(await moneyPath(t, { config, intercept: () => interleaver.intercept(index) }))
    }
    return new Interleavings(interleaver, started)
  }

  /** One run: the outcomes of the calls, which rules the books break afterwards, and the turns. */
  async run(set: Pair['set'], choose: Choose) {
    const path = this.#path
    const playerId = await this.#players.next()
    const calls = await set({ path, playerId })
    await this.#outboxesAreEmpty()
    const first: Promise<Answer>[] = []
    const turns = await this.#interleaver.run(
      calls.map((call, index) => () => {
        const answer = this.#answerOf(call(this.#sides[index] as MoneyPath))
        first.push(answer)
        return answer
      }),
      choose,
    )
    const answers = await Promise.all(
      calls.map(async (call, index) => {
        const answer = (await first[index]) as Answer
        if (answer.code !== 'SERVICE_UNAVAILABLE') return answer
        // As an operator's server does it: an unknown outcome is asked for again.
        return eventually(async () => {
          const again = await this.#answerOf(call(path))
          return again.code === 'SERVICE_UNAVAILABLE' ? false : again
        })
      }),
    )
    await this.#outboxesAreEmpty()
    return {
      outcomes: answers.map(({ code }) => code).join(', '),
      broken: [...answers.flatMap(({ early }) => early), ...(await violations(this.#admin, playerId))],
      turns,
    }
  }

  /** A test, to be the last. */
  reconciles(t: Test): void {
    t.test('after all of it the ledger reconciles', async (t) => {
      t.same(await this.#path.differences(), [])
    })
  }

  get #admin() {
    return this.#path.bed.sql('admin')
  }

  /** Any error but a refusal is the call's fault. */
  async #answerOf(call: Promise<unknown>): Promise<Answer> {
    try {
      await call
      return { code: 'done', early: [] }
    } catch (error) {
      if (!(error instanceof Rejection)) throw error
      const { depositId, withdrawalId, status } = (error.details ?? {}) as Record<string, string>
      const text = `select name from payments.outbox where aggregate = $1 and kind = 'command'`
      const { rows } = await this.#admin.query({ name: 'early', text, values: [depositId ?? withdrawalId] })
      return { code: error.code, early: rows.map(({ name }) => `${status}, before ${name}`) }
    }
  }

  async #outboxesAreEmpty(): Promise<void> {
    const text = `select from payments.outbox union all select from players.outbox`
    await eventually(async () => (await this.#admin.query({ name: 'unsent', text })).rowCount === 0)
  }
}

export const orderOf = (turns: readonly Turn[]) => turns.map(({ chosen }) => chosen)

/** Goes on with the call whose turn it was, as long as that can go on. */
export const goOn: Choose = (possible, turns) => {
  const last = turns.at(-1)?.chosen
  return last !== undefined && possible.includes(last) ? last : (possible[0] as number)
}
