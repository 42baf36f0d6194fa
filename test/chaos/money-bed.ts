import { eventually, freePort, type Teardown, type TestBed, type TestBedOptions, testBed } from '@backoffice/test-kit'
import { services } from '../services.ts'
import { createOperators, Load, type Operator } from './load.ts'
import { endLeases, judge, type Problem, untilSettled } from './oracle.ts'
import type { Random } from './random.ts'
import { comeBack, lookBack } from './run.ts'
import { type Judged, shortWaits } from './system.ts'

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
