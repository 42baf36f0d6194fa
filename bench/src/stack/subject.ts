import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Scope, ServiceName } from '@backoffice/contracts'
import pg from 'pg'
import type { Column, Sample } from '../case.ts'
import type { NatsLogin } from '../load/nats-requests.ts'
import { LoadOperator, post } from '../load/operator.ts'
import { PeakMemory } from './peak-memory.ts'
import { RunningStack, type Where } from './running-stack.ts'
import { Team } from './team.ts'

const registrationsAtOnce = 8
const idleLooks = 4
const idleLookEveryMs = 250

/** The running system of one checkout, with what a case needs to put load on it. */
export class Subject {
  readonly column: Column
  readonly stack: RunningStack
  readonly team: Team
  /** The demo operator's sandbox. */
  readonly scope: Scope
  readonly operator: LoadOperator
  /** Memory of the services before the first request. */
  readonly idleMemory: Sample
  #players: Promise<readonly string[]> | undefined

  private constructor(parts: Pick<Subject, 'column' | 'stack' | 'team' | 'scope' | 'idleMemory'>) {
    this.column = parts.column
    this.stack = parts.stack
    this.team = parts.team
    this.scope = parts.scope
    this.idleMemory = parts.idleMemory
    this.operator = new LoadOperator(this.stack.description.baseUrl, demo(this.stack).sandbox)
  }

  /** @param ending stops the system and closes all connections to it */
  static async start(column: Column, where: Where, ending: AsyncDisposableStack): Promise<Subject> {
    const stack = await RunningStack.start(where, ending)
    const idleMemory = await lookWhileIdle(stack)
    const team = await Team.of(stack)
    ending.defer(() => team.close())
    const scope = await team.sandboxOf(demo(stack).name)
    const subject = new Subject({ column, stack, team, scope, idleMemory })
    ending.defer(() => subject.operator.close())
    return subject
  }

  /** The players, who are registered when they are first needed. */
  players(count: number): Promise<readonly string[]> {
    this.#players ??= this.#register(count)
    return this.#players
  }

  login(service: ServiceName): NatsLogin {
    return { url: this.stack.description.natsUrl, user: service, password: this.stack.natsPassword(service) }
  }

  /** Runs `work` as PostgreSQL's superuser, for work that no operation does. */
  async withSql<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: this.stack.description.postgresUrl })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }

  async #register(count: number): Promise<readonly string[]> {
    const ids: string[] = []
    const client = async (number: number) => {
      while (ids.length < count)
        ids.push(String((await this.operator.ask(number, post('/players', newPlayer()), 201)).id))
    }
    await Promise.all(Array.from({ length: registrationsAtOnce }, (_, number) => client(number)))
    return ids
  }
}

async function lookWhileIdle(stack: RunningStack): Promise<Sample> {
  const peak = new PeakMemory(stack)
  for (let look = 0; look < idleLooks; look += 1) {
    await wait(idleLookEveryMs)
    peak.look()
  }
  return peak.sample()
}

function demo({ description }: RunningStack) {
  const [operator] = description.operators
  if (operator === undefined) throw new Error('the system has no demo operator')
  return operator
}

const newPlayer = () => ({
  externalId: randomUUID(),
  name: 'Ana Souza',
  email: 'ana@example.com',
  cpf: '52998224725',
  birthDate: '1990-05-17',
})
