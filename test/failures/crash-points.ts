import { randomUUID } from 'node:crypto'
import { type Operation, operations, serviceNames } from '@backoffice/contracts'
import { drawn, eventually } from '@backoffice/test-kit'
import type { Test } from 'tap'
import type { Moment, SeenStep } from './mortal-services.ts'
import { type Command, World } from './world.ts'

/** What is in all tables: rows of each, rows of each status, and the players' money. */
export type Books = ReadonlyMap<string, number>

/** Not the effect of a command. */
const unrelated = new Set([
  ...serviceNames.map((name) => `${name}.stream_seen`),
  // Written before a command begins, once for each login.
  ...serviceNames.map((name) => `${name}.team_session`),
  ...[
    'gateway.rate_window',
    'gateway.daily_use',
    'gateway.homologation_proof',
    'gateway.refused_request',
    'gateway.refused_today',
    'wallet.system_checkpoint',
    // Days of play are closed when they have ended.
    'wallet.play_day',
    // Deposits and withdrawals are counted by day once they are entered, deliveries by hour.
    'wallet.money_day',
    'wallet.money_position',
    'webhooks.delivery_hour',
    'webhooks.delivery_position',
  ],
  // Who sends a delivery now.
  'webhooks.lease',
  // A reconciliation may be due at any moment.
  ...['reconciliation', 'checkpoint', 'account_checkpoint', 'moment'].map((table) => `reconciler.${table}`),
])

const byStatus = [
  ['payments.deposit', 'status'],
  ['payments.withdrawal', 'status'],
  ['wallet.hold', 'state'],
  ['webhooks.delivery', 'state'],
] as const

export class Bookkeeper {
  readonly #world: World
  readonly #query: string

  private constructor(world: World, query: string) {
    this.#world = world
    this.#query = query
  }

  static async of(world: World): Promise<Bookkeeper> {
    const { rows } = await world.bed.sql('admin').query(
      `select table_schema || '.' || table_name as name from information_schema.tables
      where table_schema = any($1) and table_type = 'BASE TABLE'
        and not (select relispartition from pg_class where oid = format('%I.%I', table_schema, table_name)::regclass)
      order by 1`,
      [serviceNames],
    )
    const tables = rows.map(({ name }) => name as string).filter((name) => !unrelated.has(name))
    const query = [
      ...tables.map((name) => `select '${name}' as what, count(*) as n from ${name}`),
      ...byStatus.map(([name, column]) => `select '${name} ' || ${column}, count(*) from ${name} group by ${column}`),
      `select 'posted', coalesce(sum(posted), 0) from wallet.account where kind = 'player'`,
      `select 'held', coalesce(sum(held), 0) from wallet.account where kind = 'player'`,
      `select 'posted to others', coalesce(sum(amount), 0) from wallet.entry where seq is null`,
    ]
    return new Bookkeeper(world, query.join('\nunion all '))
  }

  async read(): Promise<Books> {
    const { rows } = await this.#world.bed.sql('admin').query({ name: 'books', text: this.#query })
    return new Map(rows.map(({ what, n }) => [what as string, Number(n)]))
  }
}

/** What changed, as lines to compare. */
export function changes(before: Books, after: Books): Record<string, number> {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  const changed = names.map((name) => [name, (after.get(name) ?? 0) - (before.get(name) ?? 0)] as const)
  return Object.fromEntries(changed.filter(([, by]) => by !== 0))
}

const commandsOwed = serviceNames
  .map((name) => `select name from ${name}.outbox where kind = 'command'`)
  .join('\nunion all ')

/** What one service still has to ask of another. Whoever has his reply must find all of it done. */
export async function owed(world: World): Promise<string[]> {
  const { rows } = await world.bed.sql('admin').query({ name: 'owed', text: commandsOwed })
  return rows.map(({ name }) => name)
}

/** Also what comes to the same: before each step, and what no command has a part in, again for each of them. */
const everyMoment = process.env.EVERY_MOMENT === 'true'

/** How often a command is sent until somebody dies of it. */
const timesMax = 5

const isOfWebhooks = ({ service, step }: Pick<Moment, 'service' | 'step'>): boolean =>
  service === 'webhooks' && !step.includes('operation')

/** Work of webhooks' own, and a step that was repeated because the first was slow. */
const mayNotCome = (moment: Moment): boolean => moment.nth > 1 || isOfWebhooks(moment)

/** What a command did, once everything that follows from it has happened. */
interface Effect {
  readonly changed: Readonly<Record<string, number>>
  readonly reply: unknown
  /** What was not done yet when the reply came. */
  readonly owed: readonly string[]
  /** Events that the operator received, however often. */
  readonly heard: number
}

/**
 * What is the same in the replies of two runs. A secret is in the first reply only, a replay may say that it is one, and a
 * balance follows from the runs before.
 */
function likeness(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(likeness)
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([name]) => !/secret|replayed|^balance/i.test(name))
    return Object.fromEntries(fields.map(([name, inner]) => [name, likeness(inner)]))
  }
  const isWordOrAmount = typeof value !== 'string' || /^(-?\d+\.\d\d|[a-z_]+)$/.test(value)
  return isWordOrAmount ? value : 'an id, a time or a text'
}

/**
 * The moments at which a death can make a difference. Just before a call, a publication or a single write is just after
 * the step before it.
 */
function momentsOf(steps: readonly SeenStep[]): Moment[] {
  return steps.flatMap(({ kind, ...step }): Moment[] => {
    const before = { ...step, when: 'before' } as const
    const after = { ...step, when: 'after' } as const
    switch (kind) {
      case 'commit':
        return [before, after]
      case 'publish':
      case 'call':
      case 'statement':
        return everyMoment ? [before, after] : [after]
      case 'request':
        return [before]
      default:
        return kind satisfies never
    }
  })
}

const titleOf = ({ service, when, step, nth }: Moment) =>
  `${service} dies ${when} ${step}${nth === 1 ? '' : `, number ${nth}`}`

/** Lets services die while they carry out commands, in a world of its own. */
export class CrashPoints {
  readonly #world: World
  readonly #bookkeeper: Bookkeeper
  /** Moments that were tried of what no command has a part in. */
  readonly #triedForAll = new Set<string>()

  private constructor(world: World, bookkeeper: Bookkeeper) {
    this.#world = world
    this.#bookkeeper = bookkeeper
  }

  /** @param t the file's own test */
  static async start(t: Test): Promise<CrashPoints> {
    if (everyMoment) t.setTimeout(1_800_000)
    const world = await World.start(t)
    return new CrashPoints(world, await Bookkeeper.of(world))
  }

  /** A test for each command: it has one effect, wherever a service dies. */
  try(t: Test, commands: readonly Command[]): void {
    for (const command of commands) {
      const { operation, decision } = command
      const title = `${operation.service}.${operation.id}${decision === undefined ? '' : ` (${decision})`}`
      t.test(`${title} has one effect, wherever a service dies`, async (t) => {
        // The first of its kind may leave what later ones find, such as an account of the brand. So the second is the
        // measure.
        const warmUp = await command.prepare(this.#world)
        await this.#effectOf(command, () => warmUp(randomUUID()))
        let expected: Effect | undefined
        const unharmed = await command.prepare(this.#world)
        await this.#world.settle()
        const steps = await this.#world.mortal.stepsOf(async () => {
          expected = await this.#effectOf(command, () => unharmed(randomUUID()))
        })
        // The reconciler has work of its own at any time, as payments gives up intents: each has a part in its own commands
        // alone. A late copy of a creation that
        // was answered before locks its player, and does nothing else.
        const ofCommand = steps.filter(
          ({ service, step }) =>
            (service !== 'reconciler' || operation.service === 'reconciler') &&
            step !== 'commit of depositor' &&
            (step !== 'write to withdrawal' || operation.service === 'payments'),
        )
        const moments = momentsOf(ofCommand).filter((moment) => this.#isNew(moment, operation))
        t.ok(moments.length > 1, `it can die at ${moments.length} moments`)
        for (const moment of everyMoment ? moments : drawn(moments))
          t.same(await this.#effectOfDeaths(command, [moment]), expected, titleOf(moment))
      })
    }
  }

  /** A test: services die one after another, at the first moment and then at one of the others. */
  tryAgain(t: Test, title: string, command: Command, first: Moment, others: readonly Moment[]): void {
    t.test(title, async (t) => {
      const unharmed = await command.prepare(this.#world)
      const expected = await this.#effectOf(command, () => unharmed(randomUUID()))
      for (const moment of drawn(others))
        t.same(await this.#effectOfDeaths(command, [first, moment]), expected, `then ${titleOf(moment)}`)
    })
  }

  /** A test, to be the last: what all deaths left behind is right. */
  reconciles(t: Test): void {
    t.test('after all deaths the ledger reconciles', async (t) => {
      const world = this.#world
      await world.settle()
      const { runId } = await world.team(operations.reconciler.reconcileWallet, {})
      const report = await eventually(async () => {
        const { report } = await world.team(operations.reconciler.reconcileWallet, { runId })
        return report ?? false
      })
      t.same(report.differences, [])
      t.same(report.inFlight, [])
    })
  }

  /**
   * What webhooks does by itself it does for several commands at once or apart, as it comes: not each command has each of its
   * moments again.
   */
  async #effectOfDeaths(command: Command, moments: readonly Moment[]): Promise<Effect> {
    for (let times = 1; ; times += 1) {
      const send = await command.prepare(this.#world)
      let died = false
      const effect = await this.#effectOf(command, async () => {
        const sent = await this.#sendThrough(moments, send)
        died = sent.died
        return sent.reply
      })
      if (died) return effect
      if (times < timesMax) continue
      if (moments.some(mayNotCome) || !(await this.#comes(moments, command))) return effect
      throw new Error(`nobody died at ${moments.map(titleOf).join(', then ')}`)
    }
  }

  /** Whether an unharmed command has these moments, too: else one was of a late copy of another, on a slow machine. */
  async #comes(moments: readonly Moment[], command: Command): Promise<boolean> {
    const send = await command.prepare(this.#world)
    const steps = await this.#world.mortal.stepsOf(() => this.#effectOf(command, () => send(randomUUID())))
    const titles = new Set(momentsOf(steps).map(titleOf))
    return moments.every((moment) => titles.has(titleOf(moment)))
  }

  async #effectOf({ leaves }: Command, send: () => Promise<unknown>): Promise<Effect> {
    const world = this.#world
    await world.settle()
    const before = await this.#bookkeeper.read()
    const heardBefore = new Set(world.received).size
    const reply = await send()
    const owing = await owed(world)
    await world.settle()
    const changed = changes(before, await this.#bookkeeper.read())
    // An attempt whose outcome nobody knows is logged, and another is made.
    for (const table of ['webhooks.attempt', ...(leaves?.tables ?? [])]) delete changed[table]
    return { changed, reply: likeness(reply), owed: owing, heard: new Set(world.received).size - heardBefore }
  }

  /**
   * The gateway's claim and call, the session of a person of the team, the relay's publication with what it notes, and the
   * way of an event to the operator are the same, whichever command it is: they are tried once.
   */
  #isNew({ service, step, nth, when }: Moment, { id, service: callee }: Operation): boolean {
    const own = step.replace(`call of ${callee}.${id}`, 'call of the command')
    const isForAll =
      isOfWebhooks({ service, step }) ||
      (service === 'gateway' && /^write to .*claim|^call of the command/.test(own)) ||
      /^write to (?:team_session|outbox, published_event)$|^publication of/.test(step)
    if (everyMoment || !isForAll) return true
    const moment = `${service} ${when} ${own} ${nth}`
    const isTried = this.#triedForAll.has(moment)
    this.#triedForAll.add(moment)
    return !isTried
  }

  /**
   * Sends a command. Each service dies at its moment and starts again, the second moment counted from the first death.
   * Then the command is sent again under the same key until it is answered. Nobody died where all is done before the moment
   * has come.
   */
  async #sendThrough(moments: readonly Moment[], send: (key: string) => Promise<unknown>): Promise<SentThrough> {
    const world = this.#world
    const key = randomUUID()
    let first: Promise<{ readonly reply: unknown }> | undefined
    let fallen: Moment | undefined
    for (const moment of moments) {
      let isDead = false
      const death = world.mortal.dieAt(moment).then(() => {
        isDead = true
      })
      // What failed for another reason has to be sent again, or nobody would ever die of it.
      first ??= eventually(async () => ({ reply: isDead ? undefined : await send(key) }))
      if (fallen !== undefined) await world.startAgain(fallen.service)
      const outlived = first.then(() => world.settle())
      await Promise.race([death, outlived])
      if (world.mortal.spares()) return { reply: (await first).reply, died: false }
      await death
      fallen = moment
    }
    if (fallen !== undefined) await world.startAgain(fallen.service)
    const early = (await first)?.reply
    await world.leasesRunOut()
    const reply = await eventually(() => send(key))
    // Who was answered before the death gets the same answer after it.
    if (early !== undefined && JSON.stringify(likeness(early)) !== JSON.stringify(likeness(reply)))
      throw new Error(`first answered ${JSON.stringify(early)}, then ${JSON.stringify(reply)}`)
    return { reply, died: true }
  }
}

interface SentThrough {
  readonly reply: unknown
  readonly died: boolean
}
