import { Corrections } from './corrections.ts'
import { Faults } from './faults.ts'
import { createOperators, Load, type Operator } from './load.ts'
import { describeOperation } from './operations.ts'
import type { ChaosOptions } from './options.ts'
import { endLeases, general, judge, type Problem, settledWithinMs, untilSettled } from './oracle.ts'
import { isKill, planFaults } from './plan.ts'
import { Random } from './random.ts'
import { startChaosSystem } from './system.ts'

export interface ChaosResult {
  readonly problems: readonly Problem[]
  readonly figures: Figures
}

export interface Figures {
  readonly kills: number
  readonly freezes: number
  readonly otherFaults: number
  readonly players: number
  /** Of clients, with an answer. */
  readonly answered: number
  readonly unanswered: number
  readonly retries: number
  readonly events: number
  readonly deliveries: number
  /** Corrections that two people carried out, and those that came too late. */
  readonly corrected: number
  readonly expired: number
  /** From the last fault on, until nothing was left to do. */
  readonly settledAfterMs: number
}

const historyShownMax = 3

/** Load and faults, then the oracle. Everything that it starts ends with `ending`. */
export async function runChaos(
  options: ChaosOptions,
  ending: AsyncDisposableStack,
  log: (line: string) => void,
): Promise<ChaosResult> {
  const random = new Random(options.seed)
  const plan = planFaults(random.stream('faults'), options)
  const system = await startChaosSystem(ending)
  let deadline = Number.POSITIVE_INFINITY
  const operators = await createOperators(system, random, { ending, deadline: () => deadline })
  const corrections = await Corrections.start(system, random, { ending, deadline: () => deadline })
  log('the system is ready')

  const load = new Load(operators, random, options)
  ending.defer(() => {
    load.end()
    deadline = performance.now()
  })
  const faults = new Faults(system, log)
  await faults.carryOut(plan)
  const calmAt = performance.now()
  deadline = calmAt + settledWithinMs
  log('the faults are over')
  if (options.skipLeases) await endLeases(system)
  await Promise.all([load.stop(), corrections.stop()])
  await comeBack(operators, random)
  await untilSettled(system)
  const settledAfterMs = Math.round(performance.now() - calmAt)
  log('nothing is left to do')

  deadline = performance.now() + settledWithinMs
  await lookBack(operators, random)
  const problems = [
    ...(await judge(system, operators)),
    ...(await corrections.judge(random.stream('corrections'))).map(general),
  ]
  return { problems, figures: { ...figuresOf(operators), ...countsOf(plan), ...corrections.figures, settledAfterMs } }
}

const registered = (operators: readonly Operator[]) =>
  operators.flatMap(({ players }) => players).filter(({ isRegistered }) => isRegistered)

/** The clients ask again for some of what they had broken off. */
export async function comeBack(operators: readonly Operator[], random: Random): Promise<void> {
  await Promise.all(registered(operators).map((player) => player.comeBack(random.stream(`${player.name} comes back`))))
}

/** The clients repeat requests that were answered, and read everything. */
export async function lookBack(operators: readonly Operator[], random: Random): Promise<void> {
  await Promise.all(
    registered(operators).map(async (player) => {
      const choices = random.stream(`${player.name} looks back`)
      await player.replay(choices)
      await player.readAll(choices)
    }),
  )
}

function figuresOf(operators: readonly Operator[]) {
  const operations = operators.flatMap(({ players }) => players).flatMap(({ history }) => history)
  const sum = (each: (operator: Operator) => number) => operators.reduce((total, one) => total + each(one), 0)
  return {
    players: sum(({ players }) => players.length),
    answered: operations.filter(({ answer }) => answer !== undefined).length,
    unanswered: operations.filter(({ answer }) => answer === undefined).length,
    retries: sum(({ client }) => client.retries),
    events: sum(({ receiver }) => receiver.events.size),
    deliveries: sum(({ receiver }) => receiver.deliveries),
  }
}

function countsOf(plan: ReturnType<typeof planFaults>) {
  const kills = plan.filter(isKill).length
  const freezes = plan.filter(({ kind }) => kind === 'freeze').length
  return { kills, freezes, otherFaults: plan.length - kills - freezes }
}

/** What a person needs to find the cause: each problem, and the histories of the players whom they concern. */
export function describeProblems(problems: readonly Problem[], seed: string): string {
  const concerned = [...new Set(problems.map(({ player }) => player))].filter((player) => player !== undefined)
  return [
    `seed ${seed}: ${problems.length} problems`,
    ...problems.map(({ player, text }) => (player === undefined ? text : `${player.name} (${player.id}): ${text}`)),
    ...concerned
      .slice(0, historyShownMax)
      .flatMap(({ name, id, history }) => [`\nhistory of ${name} (${id}):`, ...history.map(describeOperation)]),
  ].join('\n')
}
