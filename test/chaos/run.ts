import { eventually, freePort, type Teardown, type TestBed, type TestBedOptions, testBed } from '@backoffice/test-kit'
import { services } from '../services.ts'
import { type Extent, Faults, isKill, planFaults } from './faults.ts'
import { createOperators, Load, type Operator } from './load.ts'
import { describeOperation } from './models.ts'
import { endLeases, judge, type Problem, settledWithinMs, untilSettled } from './oracle.ts'
import type { Random } from './random.ts'
import { type Judged, shortWaits, startChaosSystem } from './system.ts'

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
  /** From the last fault on, until nothing was left to do. */
  readonly settledAfterMs: number
}

const historyShownMax = 3

interface ChaosOptions extends Extent {
  /** Players who are under way at the same time. */
  readonly players: number
  readonly clientsPerPlayer: number
  /** Ends leases by hand once the faults are over, as if the time had passed. */
  readonly skipLeases: boolean
}

/** Over a midnight, whatever time it is, and over the day that a higher limit waits. */
const clockStepMsMax = 36 * 3_600_000
const killsPerMinute = 11

/** @param minutes how long faults happen; 0 for the few seconds of the proofs */
const optionsFor = (minutes: number): ChaosOptions =>
  minutes === 0
    ? { ...{ durationMs: 9_000, kills: 9, silenceMsMax: 3_000, clockStepMsMax }, ...few, skipLeases: true }
    : {
        ...{ durationMs: minutes * 60_000, kills: Math.ceil(minutes * killsPerMinute), silenceMsMax: 30_000 },
        ...{ clockStepMsMax, players: 8, clientsPerPlayer: 3, skipLeases: false },
      }
const few = { players: 4, clientsPerPlayer: 2 }

/** Load and faults for so many minutes, then the oracle. */
export async function runChaos(t: Teardown & Says, random: Random, minutes: number): Promise<ChaosResult> {
  const startedAt = performance.now()
  const log = (line: string) => t.comment(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s  ${line}`)
  const options = optionsFor(minutes)
  const plan = planFaults(random.stream('faults'), options)
  const system = await startChaosSystem(t)
  let deadline = Number.POSITIVE_INFINITY
  const operators = await createOperators(t, system, random, { deadline: () => deadline })
  log('the system is ready')

  const load = new Load(operators, random, options)
  t.teardown(() => {
    load.end()
    deadline = performance.now()
  })
  const faults = new Faults(system, log)
  await faults.carryOut(plan)
  const calmAt = performance.now()
  deadline = calmAt + settledWithinMs
  log('the faults are over')
  if (options.skipLeases) await endLeases(system)
  await load.stop()
  await comeBack(operators, random)
  await untilSettled(system)
  const settledAfterMs = Math.round(performance.now() - calmAt)
  log('nothing is left to do')

  deadline = performance.now() + settledWithinMs
  await lookBack(operators, random)
  const problems = await judge(system, operators)
  return { problems, figures: { ...figuresOf(operators), ...countsOf(plan), settledAfterMs } }
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

interface Says {
  comment(text: string): void
}

/** Passes when nothing differs. Else it says what a person needs to find the cause. */
export const expectNone = (
  t: { equal(found: unknown, wanted: unknown, message: string): unknown },
  problems: readonly Problem[],
  { seed }: Random,
) => t.equal(problems.length, 0, problems.length === 0 ? 'nothing differs' : describeProblems(problems, seed))

/** Each problem, and the histories of the players whom they concern. */
function describeProblems(problems: readonly Problem[], seed: string): string {
  const concerned = [...new Set(problems.map(({ player }) => player))].filter((player) => player !== undefined)
  return [
    `seed ${seed}: ${problems.length} problems`,
    ...problems.map(({ player, text }) => (player === undefined ? text : `${player.name} (${player.id}): ${text}`)),
    ...concerned
      .slice(0, historyShownMax)
      .flatMap(({ name, id, history }) => [`\nhistory of ${name} (${id}):`, ...history.map(describeOperation)]),
  ].join('\n')
}

/** All services in this process, on servers that fail in the test, and the clients of two operators. */
export class MoneyBed implements Judged {
  readonly bed: TestBed<typeof services>
  readonly replicas = []
  readonly operators: readonly Operator[]
  readonly #random: Random
  readonly #loads: Load[] = []

  private constructor(bed: TestBed<typeof services>, operators: readonly Operator[], random: Random) {
    this.bed = bed
    this.operators = operators
    this.#random = random
  }

  static async start(t: Teardown, random: Random, servers: NonNullable<TestBedOptions['servers']>): Promise<MoneyBed> {
    const bed = await testBed(t, services, {
      servers,
      config: {
        gateway: { ...shortWaits, PORT: await freePort() },
        payments: shortWaits,
        webhooks: shortWaits,
      },
    })
    const system = { team: bed.team('alice'), baseUrls: [bed.services.gateway.addresses.baseUrl] }
    const operators = await createOperators(t, system, random)
    return new MoneyBed(bed, operators, random)
  }

  get sql() {
    return this.bed.sql('admin')
  }

  get team() {
    return this.bed.team('alice')
  }

  /** Clients that move money from now on. */
  load(name: string, operators: readonly Operator[] = this.operators): Load {
    const load = new Load(operators, this.#random.stream(name), { players: 2, clientsPerPlayer: 2 })
    this.#loads.push(load)
    return load
  }

  /** Resolves when so many more operations of the clients of these operators have a final answer. */
  async answers(count: number, operators: readonly Operator[] = this.operators): Promise<void> {
    const answered = () =>
      operators.flatMap(({ players }) => players).flatMap(({ history }) => history.filter(({ answer }) => answer))
        .length
    const enough = answered() + count
    await eventually(() => answered() >= enough)
  }

  /** The answers that were not final, each kind once. */
  notFinal(): string[] {
    return [...new Set(this.operators.flatMap(({ client }) => [...client.notFinal.keys()]))].sort()
  }

  /**
   * When nothing fails any more: each request gets its answer, and all that they left is done. Then everything is held
   * against what the clients were told.
   */
  async conclude(): Promise<readonly Problem[]> {
    await endLeases(this)
    await Promise.all(this.#loads.map((load) => load.stop()))
    await comeBack(this.operators, this.#random)
    await untilSettled(this)
    await lookBack(this.operators, this.#random)
    return judge(this, this.operators)
  }
}
