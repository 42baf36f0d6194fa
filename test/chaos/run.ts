import { eventually, freePort, type Teardown, type TestBed, type TestBedOptions, testBed } from '@backoffice/test-kit'
import { services } from '../services.ts'
import { carryOut, planFaults } from './faults.ts'
import { createOperators, Load, type Operator } from './load.ts'
import { describeOperation } from './models.ts'
import { endLeases, judge, type Problem, settledWithinMs, untilSettled } from './oracle.ts'
import type { Random } from './random.ts'
import { type Judged, shortWaits, startChaosSystem } from './system.ts'

const historyShownMax = 3
const killsPerMinute = 11

/** @param minutes how long faults happen; 0 for the few seconds of the proofs */
const optionsFor = (minutes: number) => ({
  // Over a midnight, whatever time it is, and over the day that a higher limit waits.
  clockStepMsMax: 36 * 3_600_000,
  ...(minutes === 0
    ? { durationMs: 9_000, kills: 9, silenceMsMax: 3_000, players: 4, clientsPerPlayer: 2 }
    : {
        ...{ durationMs: minutes * 60_000, kills: Math.ceil(minutes * killsPerMinute), silenceMsMax: 30_000 },
        ...{ players: 8, clientsPerPlayer: 3 },
      }),
})

/** Load and faults for so many minutes, then the oracle. */
export async function runChaos(t: Teardown & Says, random: Random, minutes: number) {
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
  await carryOut(plan, system, log)
  const calmAt = performance.now()
  deadline = calmAt + settledWithinMs
  log('the faults are over')
  let settledAfterMs = 0
  const problems = await conclude(system, {
    ...{ operators, loads: [load], random, endsLeases: minutes === 0 },
    settled() {
      settledAfterMs = Math.round(performance.now() - calmAt)
      log('nothing is left to do')
      deadline = performance.now() + settledWithinMs
    },
  })
  const kills = plan.filter(({ kind }) => kind === 'kill').length
  const freezes = plan.filter(({ kind }) => kind === 'freeze').length
  const faults = { kills, freezes, otherFaults: plan.length - kills - freezes }
  return { problems, figures: { ...figuresOf(operators), ...faults, settledAfterMs } }
}

interface Conclusion {
  readonly operators: readonly Operator[]
  readonly loads: readonly Load[]
  readonly random: Random
  /** By hand, as if their time had passed. */
  readonly endsLeases?: boolean
  /** Called when nothing is left to do. */
  readonly settled?: () => void
}

/**
 * When nothing fails any more: each request gets its answer, and all that they left is done. Then everything is held
 * against what the clients were told, who repeat requests that were answered, and read everything.
 */
async function conclude(
  system: Judged,
  { operators, loads, random, endsLeases = true, settled }: Conclusion,
): Promise<readonly Problem[]> {
  if (endsLeases) await endLeases(system)
  await Promise.all(loads.map((load) => load.stop()))
  await comeBack(operators, random)
  await untilSettled(system)
  settled?.()
  await Promise.all(
    registered(operators).map(async (player) => {
      const choices = random.stream(`${player.name} looks back`)
      await player.replay(choices)
      await player.readAll(choices)
    }),
  )
  return judge(system, operators)
}

const registered = (operators: readonly Operator[]) =>
  operators.flatMap(({ players }) => players).filter(({ isRegistered }) => isRegistered)

/** The clients ask again for some of what they had broken off. */
export async function comeBack(operators: readonly Operator[], random: Random): Promise<void> {
  await Promise.all(registered(operators).map((player) => player.comeBack(random.stream(`${player.name} comes back`))))
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

  static async start(t: Teardown, random: Random, servers: TestBedOptions['servers'] = {}): Promise<MoneyBed> {
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

  conclude(): Promise<readonly Problem[]> {
    return conclude(this, { operators: this.operators, loads: this.#loads, random: this.#random })
  }
}
