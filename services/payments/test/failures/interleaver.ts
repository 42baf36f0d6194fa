import { setTimeout as wait } from 'node:timers/promises'
import type { Interceptor } from '@backoffice/service-runtime/testing'

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
export class Interleaver {
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
