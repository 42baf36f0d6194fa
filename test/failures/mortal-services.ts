import { allOperations, Rejection, type ServiceName } from '@backoffice/contracts'
import type { Interceptor, RunningService } from '@backoffice/service-runtime/testing'

type Step = Parameters<Interceptor>[0]

/** One life of a service, from a start to a death. */
interface Life {
  /** Once it has started. It may die before: its background work begins earlier. */
  readonly replica: Promise<RunningService>
  readonly started: (replica: RunningService) => void
  readonly ended: Promise<void>
  readonly end: () => void
  /** From here on it has no effect on anything. */
  isOver: boolean
}

/** A moment in the life of a service: before or after the nth step of this name since the death was planned. */
export interface Moment {
  readonly service: ServiceName
  readonly step: string
  readonly nth: number
  readonly when: 'before' | 'after'
}

/** A step after which something is different from before. */
export interface SeenStep extends Omit<Moment, 'when'> {
  readonly kind: Step['kind'] | 'request'
}

interface Plan {
  readonly moment: Moment
  /** How often its step was taken. */
  passed: number
  readonly reached: () => void
}

/**
 * Lets services of one process die between two of their steps, as SIGKILL does: from that moment on no statement, call,
 * publication, reply or acknowledgement of theirs leaves the process. Their connections are cut, so PostgreSQL rolls
 * back what they had not committed, and their callers hear nothing.
 */
export class MortalServices {
  readonly #cutDatabase: (service: ServiceName) => Promise<void>
  readonly #lives = new Map<ServiceName, Life>()
  /** The tables that a transaction has written so far. */
  readonly #written = new WeakMap<object, Set<string>>()
  #seen: SeenStep[] | undefined
  #plan: Plan | undefined

  /** @param cutDatabase ends the connections that a service has to PostgreSQL */
  constructor(cutDatabase: (service: ServiceName) => Promise<void>) {
    this.#cutDatabase = cutDatabase
  }

  /** The interceptor of a replica that starts, which must be the only one of its service. */
  readonly intercept = (service: ServiceName): Interceptor => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const { promise: replica, resolve: started } = Promise.withResolvers<RunningService>()
    const life: Life = { replica, started, ended, end, isOver: false }
    this.#lives.set(service, life)
    return async (step, run) => {
      if (life.isOver) throw await dead(life)
      const name = this.#nameOf(step)
      const fate = name === undefined ? undefined : this.#pass(service, step.kind, name)
      if (fate === 'before') await this.#kill(service, life)
      if (life.isOver) throw await dead(life)
      const result = await this.#outliving(life, step.kind === 'call' ? calleeOf(step) : undefined, run)
      if (fate === 'after') await this.#kill(service, life)
      if (life.isOver) throw await dead(life)
      return result
    }
  }

  /** Says which replica it was whose interceptor was asked for last. */
  hasStarted(service: ServiceName, replica: RunningService): void {
    this.#lifeOf(service).started(replica)
  }

  /** The steps that all services take during `run`, in order, as far as they change something. */
  async stepsOf(run: () => Promise<unknown>): Promise<readonly SeenStep[]> {
    const seen: SeenStep[] = []
    this.#seen = seen
    await run()
    this.#seen = undefined
    return seen
  }

  /** Plans a death. @returns what resolves when it has come */
  dieAt(moment: Moment): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#plan = { moment, passed: 0, reached: resolve }
    return promise
  }

  /** Takes back a death whose moment has not come. @returns false where it has: somebody is dying, or dead */
  spares(): boolean {
    if (this.#plan === undefined || this.#plan.passed >= this.#plan.moment.nth) return false
    this.#plan = undefined
    return true
  }

  /** Resolves when the running replica of a service dies. */
  endOf(service: ServiceName): Promise<void> {
    return this.#lifeOf(service).ended
  }

  #lifeOf(service: ServiceName): Life {
    const life = this.#lives.get(service)
    if (life === undefined) throw new Error(`${service} never lived`)
    return life
  }

  /** A request of a service has arrived somewhere outside. It is answered afterwards, which the service may not live to hear. */
  async requestArrives(service: ServiceName): Promise<void> {
    const life = this.#lifeOf(service)
    if (this.#pass(service, 'request', 'request outside') !== undefined) await this.#kill(service, life)
  }

  /** Names a step by what it changes; undefined when it changes nothing by itself. */
  #nameOf({ kind, name, transaction }: Step): string | undefined {
    switch (kind) {
      case 'call':
        return queries.has(name) ? undefined : `call of ${name}`
      case 'publish':
        return `publication of ${name}`
      case 'statement': {
        const written = tablesWrittenBy(name)
        if (transaction === undefined) return written.length === 0 ? undefined : `write to ${written.join(', ')}`
        const before = this.#written.get(transaction) ?? []
        this.#written.set(transaction, new Set([...before, ...written]))
        return undefined
      }
      case 'commit': {
        const written = this.#written.get(transaction ?? this) ?? new Set()
        this.#written.delete(transaction ?? this)
        return written.size === 0 ? undefined : `commit of ${[...written].join(', ')}`
      }
      default:
        return kind satisfies never
    }
  }

  /** Notes that a service takes a step. @returns whether it dies before or after it */
  #pass(service: ServiceName, kind: SeenStep['kind'], step: string): Moment['when'] | undefined {
    if (this.#seen !== undefined) {
      const nth = 1 + this.#seen.filter((other) => other.service === service && other.step === step).length
      this.#seen.push({ service, step, nth, kind })
    }
    const plan = this.#plan
    if (plan === undefined || plan.moment.service !== service || plan.moment.step !== step) return undefined
    plan.passed += 1
    return plan.passed === plan.moment.nth ? plan.moment.when : undefined
  }

  /** A dead callee sends no reply, so its caller's time runs out. Here that takes no time. */
  async #outliving<T>(life: Life, callee: ServiceName | undefined, run: () => Promise<T>): Promise<T> {
    const others = callee === undefined ? [] : [this.#lifeOf(callee).ended.then(() => Promise.reject(unheard()))]
    return Promise.race([run(), life.ended.then(() => Promise.reject(new Error('died'))), ...others])
  }

  async #kill(service: ServiceName, life: Life): Promise<void> {
    life.isOver = true
    await this.#cutDatabase(service)
    life.end()
    const running = await life.replica
    await running.nats.close()
    // Nothing that it does now reaches anybody. This ends its timers and listeners.
    void running.drain()
    this.#plan?.reached()
    this.#plan = undefined
  }
}

const queries = new Set(
  allOperations.filter(({ kind }) => kind === 'query').map(({ service, id }) => `${service}.${id}`),
)

/** In `for update` and `do update` no table follows. */
const writing = /\b(?:insert into|delete from|(?<!for |key |do )update) (?:"?\w+"?\.)?"?(\w+)/g

/** What is written in the background, whether or not somebody calls. */
const background: ReadonlySet<string> = new Set([
  ...[
    'rate_window',
    'daily_use',
    'homologation_proof',
    'judged_event',
    'missing_delivery',
    'delivery_hour',
    'delivery_position',
    'money_day',
    'money_position',
    'refused_request',
    'refused_today',
    'stream_seen',
    'system_checkpoint',
  ],
])

function tablesWrittenBy(text: string): string[] {
  // The relay looks for rows to lease all the time.
  if (text.includes('with due as (') && text.includes('update outbox')) return []
  // A purge comes a minute after a start, and every hour.
  if (text.includes('where ctid in (')) return []
  const tables = [...text.matchAll(writing)].map(([, table = '']) => table)
  return [...new Set(tables)].filter((table) => !background.has(table))
}

const calleeOf = ({ name }: Step) => name.split('.')[0] as ServiceName

const unheard = () => new Rejection('SERVICE_UNAVAILABLE', undefined, { cause: new Error('the service has died') })

async function dead(life: Life): Promise<Error> {
  await life.ended
  return new Error('the service has died')
}
