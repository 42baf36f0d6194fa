import { setTimeout as wait } from 'node:timers/promises'
import { Rejection, type ServiceName } from '@backoffice/contracts'
import { bePatient } from '@backoffice/process'
import type { Interceptor } from '@backoffice/service-runtime/testing'
import { eventually } from '@backoffice/test-kit'
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { type MoneyPath, moneyPath } from '../money-path.ts'
import { type Pair, Players } from './money-races.ts'

// A call waits while others have their turns, on a slow machine for long: it is not given up meanwhile.
bePatient({ DEVELOPMENT: 'true', PATIENCE: '16' })

type Step = Parameters<Interceptor>[0]

interface Waiting {
  readonly step: Step
  readonly go: () => void
}

/** One of several calls at once, with replicas of its own: every step on its side belongs to it. */
class Side {
  /** Steps that wait for their turn, in the order in which they came. */
  waiting: Waiting[] = []
  /** Transactions, and statements without one, that PostgreSQL works on. */
  readonly atWork = new Map<object, number>()
  finished = false
  lastStep: string | undefined
}

/** The moment of a choice: whose turn it could be, and whose it was. */
export interface Turn {
  readonly possible: readonly number[]
  readonly chosen: number
}

/** @returns one of `possible` */
export type Choose = (possible: readonly number[], turns: readonly Turn[]) => number

/** How long PostgreSQL may work on a statement before it is asked whether the statement waits for a lock. */
const lookAfterMs = 2

/** What replicas do all the time by themselves. */
const isBackground = ({ name }: Step) =>
  /with due as \(|stream_seen|max\(published_at\)|analyze_young|statement_timeout|delete from/.test(name)

/**
 * Puts the steps of several calls in an order. A call may go on only when it is its turn, up to where it next needs
 * PostgreSQL. Statements of a transaction that are sent together are one step, and a commit is one. A statement that
 * waits for a lock has had its turn and is not done, so the others go on.
 */
class Interleaver {
  readonly #sides: readonly Side[]
  readonly #countLocked: () => Promise<number>
  #running = false
  #changed = Promise.withResolvers<void>()

  /** @param countLocked how many connections to the database wait for a lock */
  constructor(sides: number, countLocked: () => Promise<number>) {
    this.#sides = Array.from({ length: sides }, () => new Side())
    this.#countLocked = countLocked
  }

  /** For all replicas of a side. */
  intercept(index: number): Interceptor {
    const side = this.#sides[index] as Side
    return (step, run) => {
      // A message by itself changes nothing that others see. What its receiver does has turns of its own.
      const hasTurns = step.kind === 'statement' || step.kind === 'commit'
      if (!this.#running || side.finished || !hasTurns || isBackground(step)) return run()
      return new Promise((resolve, reject) => {
        const go = () => void this.#work(side, step, run).then(resolve, reject)
        side.waiting.push({ step, go })
        this.#notice()
      })
    }
  }

  /**
   * Runs one call on each side.
   * @returns the turns that they took
   */
  async run(calls: readonly (() => Promise<unknown>)[], choose: Choose): Promise<readonly Turn[]> {
    const turns: Turn[] = []
    this.#running = true
    const sides = this.#sides
    for (const side of sides) Object.assign(side, { waiting: [], finished: false, lastStep: undefined })
    const ended = calls.map((call, index) => call().finally(() => this.#finish(sides[index] as Side)))
    while (sides.some(({ finished }) => !finished)) {
      await this.#quiet()
      const possible = this.#possible()
      if (possible.length === 0) {
        // All wait for each other's locks, which PostgreSQL ends; or the last of them has just finished.
        if (sides.some(({ finished }) => !finished)) await this.#change()
        continue
      }
      const chosen = choose(possible, turns)
      turns.push({ possible, chosen })
      this.#takeTurn(sides[chosen] as Side)
    }
    this.#running = false
    await Promise.allSettled(ended)
    return turns
  }

  async #work<T>(side: Side, { transaction = {} }: Step, run: () => Promise<T>): Promise<T> {
    side.atWork.set(transaction, (side.atWork.get(transaction) ?? 0) + 1)
    try {
      return await run()
    } finally {
      const left = (side.atWork.get(transaction) ?? 1) - 1
      if (left > 0) side.atWork.set(transaction, left)
      else side.atWork.delete(transaction)
      // Not before whoever waited for this step could ask for the next.
      setImmediate(() => this.#notice())
    }
  }

  /** The first step that waits, with what its transaction has sent together with it. */
  #takeTurn(side: Side): void {
    const [first] = side.waiting
    if (first === undefined) return
    const { transaction } = first.step
    const turn = side.waiting.filter(
      (other) => other === first || (transaction !== undefined && other.step.transaction === transaction),
    )
    side.waiting = side.waiting.filter((other) => !turn.includes(other))
    side.lastStep = first.step.name
    for (const other of this.#sides) if (other !== side) other.lastStep = undefined
    for (const { go } of turn) go()
  }

  /** Who asks the same again, such as whether another has finished, lets the others go first. */
  #possible(): number[] {
    const sides = this.#sides
    const waiting = [...sides.keys()].filter((index) => (sides[index] as Side).waiting.length > 0)
    const patient = waiting.filter((index) => {
      const { waiting, lastStep } = sides[index] as Side
      return waiting[0]?.step.name !== lastStep
    })
    return patient.length > 0 ? patient : waiting
  }

  /** Resolves when each call has finished, waits for its turn, or waits for a lock. */
  async #quiet(): Promise<void> {
    for (;;) {
      const underWay = this.#sides.filter(({ finished }) => !finished)
      const atWork = underWay.reduce((sum, side) => sum + side.atWork.size, 0)
      const isOnItsWay = underWay.some((side) => side.waiting.length === 0 && side.atWork.size === 0)
      if (isOnItsWay) await this.#change()
      else if (atWork === 0) return
      else {
        const change = this.#change().then(() => 'changed')
        if ((await Promise.race([change, wait(lookAfterMs)])) === 'changed') continue
        const locked = await Promise.race([change, this.#countLocked()])
        if (locked !== 'changed' && (locked as number) >= atWork) return
      }
    }
  }

  #finish(side: Side): void {
    side.finished = true
    // What follows, such as publishing, is nobody's turn.
    for (const { go } of side.waiting.splice(0)) go()
    this.#notice()
  }

  #change(): Promise<void> {
    return this.#changed.promise
  }

  #notice(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}

/** How often a call that could have gone on had to wait for another. */
export function preemptionsIn(turns: readonly Turn[]): number {
  return turns.filter(({ possible, chosen }, index) => {
    const before = turns[index - 1]?.chosen
    return before !== undefined && before !== chosen && possible.includes(before)
  }).length
}

/** What must be true of a player's money and records at any time that nothing is under way. Each finds what breaks it. */
const rules: Readonly<Record<string, string>> = {
  'the sums of each transfer are zero': `
    select e.transfer_id from wallet.entry e join mine on mine.id = e.transfer_id
    group by e.transfer_id having sum(e.amount) <> 0 or count(*) <> 2`,
  'a balance is the sum of its entries': `
    select a.posted from wallet.account a where a.owner_id = $1
      and a.posted <> (select coalesce(sum(e.amount), 0) from wallet.entry e where e.account_id = a.id)`,
  'what is held is the sum of the open holds': `
    select a.held from wallet.account a where a.owner_id = $1
      and a.held <> (select coalesce(sum(h.amount), 0) from wallet.hold h where h.account_id = a.id and h.state = 'open')`,
  'no balance is below zero': `
    select posted, held from wallet.account where owner_id = $1 and (held < 0 or posted - held < 0)`,
  'a hold is where its withdrawal is': `
    select w.id, w.status, h.state from payments.withdrawal w left join wallet.hold h on h.reference = w.id
    where w.player_id = $1 and coalesce(h.state, 'none') <> all(case
      when w.status in ('under_review', 'approved') then array['open']
      when w.status = 'paid' then array['captured']
      when w.status in ('rejected', 'cancelled', 'failed') then array['released']
      when w.status = 'abandoned' then array['released', 'refused']
      when w.status = 'refused' then array['refused']
      else array['nothing fits an intent'] end)`,
  'a deposit is credited once when it is confirmed, and never otherwise': `
    select d.id, d.status from payments.deposit d where d.player_id = $1
      and (select count(*) from mine where mine.reference = d.id) <> case d.status when 'confirmed' then 1 else 0 end`,
  'a withdrawal is debited once when it is paid, and never otherwise': `
    select w.id, w.status from payments.withdrawal w where w.player_id = $1
      and (select count(*) from mine where mine.reference = w.id) <> case w.status when 'paid' then 1 else 0 end`,
  'an operation made one record': `
    select operation_id from payments.withdrawal where player_id = $1 and status <> 'abandoned'
    group by operation_id having count(*) > 1
    union all
    select operation_id from payments.status_transition where record_id in (select id from payments.deposit where player_id = $1)
    group by operation_id having count(*) > 1`,
  'each change of a record is told once, and its version rises by one': `
    select record_id from payments.status_transition
    where record_id in (select id from payments.deposit where player_id = $1 union select id from payments.withdrawal where player_id = $1)
    group by record_id having max(version) <> count(*)`,
  'the daily limit holds': `
    select sum(d.amount) from payments.deposit d join players.player p on p.id = d.player_id
    where d.player_id = $1 and d.status <> 'failed' group by p.daily_deposit_limit having sum(d.amount) > p.daily_deposit_limit`,
}

const text = Object.entries(rules)
  .map(([rule, query], index) => `select '${rule}' as rule, to_json(r${index}) as what from (${query}) r${index}`)
  .join('\nunion all\n')

/** @returns which rules a player's records break */
async function violations(admin: Pool, playerId: string): Promise<unknown[]> {
  const { rows } = await admin.query(
    `with mine as (
      select distinct t.id, t.reference from wallet.transfer t join wallet.entry e on e.transfer_id = t.id
      join wallet.account a on a.id = e.account_id where a.owner_id = $1
    ) ${text}`,
    [playerId],
  )
  return rows
}

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
