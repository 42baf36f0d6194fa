import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { Bookkeeper, changes, owed } from './books.ts'
import type { Command } from './command.ts'
import { commands } from './commands.ts'
import type { Moment, SeenStep } from './mortal-services.ts'
import { World } from './world.ts'

/** Also what comes to the same: before each step, and the delivery of an event after each command that sends it. */
const everyMoment = process.env.EVERY_MOMENT === 'true'
t.setTimeout(everyMoment ? 1_800_000 : 230_000)
const answeredMsMax = 15_000

const world = await World.start(t)
const bookkeeper = await Bookkeeper.of(world)
/** Moments of an event's way to the operator that were tried. */
const triedOnTheWay = new Set<string>()

/** What a command did, once everything that follows from it has happened. */
interface Effect {
  readonly changed: Readonly<Record<string, number>>
  readonly reply: unknown
  /** What was not done yet when the reply came. */
  readonly owed: readonly string[]
  /** Events that the operator received, however often. */
  readonly heard: number
}

async function effectOf({ leaves }: Command, send: () => Promise<unknown>): Promise<Effect> {
  await world.settle()
  const before = await bookkeeper.read()
  const heardBefore = new Set(world.received).size
  const reply = await send()
  const owing = await owed(world)
  await world.settle()
  const changed = changes(before, await bookkeeper.read())
  // An attempt whose outcome nobody knows is logged, and another is made.
  for (const table of ['webhooks.attempt', ...(leaves?.tables ?? [])]) delete changed[table]
  return { changed, reply: likeness(reply), owed: owing, heard: new Set(world.received).size - heardBefore }
}

/** What is the same in the replies of two runs. A secret is in the first reply only, and a replay may say that it is one. */
function likeness(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(likeness)
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([name]) => !/secret|replayed/i.test(name))
    return Object.fromEntries(fields.map(([name, inner]) => [name, likeness(inner)]))
  }
  const isWordOrAmount = typeof value !== 'string' || /^(-?\d+\.\d\d|[a-z_]+)$/.test(value)
  return isWordOrAmount ? value : 'an id, a time or a text'
}

/**
 * The moments at which a death can make a difference. Just before a call or a single write is just after the step before
 * it.
 */
function momentsOf(steps: readonly SeenStep[]): Moment[] {
  return steps.flatMap(({ kind, ...step }): Moment[] => {
    const before = { ...step, when: 'before' } as const
    const after = { ...step, when: 'after' } as const
    switch (kind) {
      case 'commit':
      case 'publish':
        return [before, after]
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

/** What becomes of an event once it is published is the same, whichever command sent it: it is tried once. */
function isNew({ service, step, nth, when }: Moment): boolean {
  const isOnTheWay = service === 'webhooks' && !step.includes('operation')
  if (everyMoment || !isOnTheWay) return true
  const moment = `${when} ${step} ${nth}`
  const isTried = triedOnTheWay.has(moment)
  triedOnTheWay.add(moment)
  return !isTried
}

/**
 * Sends a command. Each service dies at its moment and starts again, the second moment counted from the first death. Then
 * the command is sent again under the same key until it is answered.
 */
async function sendThrough(moments: readonly Moment[], send: (key: string) => Promise<unknown>) {
  const key = randomUUID()
  let first: Promise<unknown> | undefined
  let fallen: Moment | undefined
  for (const moment of moments) {
    const death = world.mortal.dieAt(moment)
    first ??= send(key).catch(() => undefined)
    if (fallen !== undefined) await world.startAgain(fallen.service)
    await death
    fallen = moment
  }
  if (fallen !== undefined) await world.startAgain(fallen.service)
  const early = await first
  await world.leasesRunOut()
  const reply = await eventually(() => send(key), answeredMsMax)
  // Who was answered before the death gets the same answer after it.
  if (early !== undefined && JSON.stringify(likeness(early)) !== JSON.stringify(likeness(reply)))
    throw new Error(`first answered ${JSON.stringify(early)}, then ${JSON.stringify(reply)}`)
  return reply
}

const titleOf = ({ service, when, step, nth }: Moment) =>
  `${service} dies ${when} ${step}${nth === 1 ? '' : `, number ${nth}`}`

for (const command of commands) {
  const { operation, decision } = command
  const title = `${operation.service}.${operation.id}${decision === undefined ? '' : ` (${decision})`}`
  t.test(`${title} has one effect, wherever a service dies`, async (t) => {
    // The first of its kind may leave what later ones find, such as an account of the brand. So the second is the measure.
    const warmUp = await command.prepare(world)
    await effectOf(command, () => warmUp(randomUUID()))
    const unharmed = await command.prepare(world)
    let expected: Effect | undefined
    await world.settle()
    const steps = await world.mortal.stepsOf(async () => {
      expected = await effectOf(command, () => unharmed(randomUUID()))
    })
    // The reconciler has work of its own at any time, and a part in its own commands alone.
    const ofCommand = steps.filter(({ service }) => service !== 'reconciler' || operation.service === 'reconciler')
    const moments = momentsOf(ofCommand).filter(isNew)
    t.ok(moments.length > 1, `it can die at ${moments.length} moments`)
    for (const moment of moments) {
      const send = await command.prepare(world)
      t.same(await effectOf(command, () => sendThrough([moment], send)), expected, titleOf(moment))
    }
  })
}

t.test('a service that makes up for its death may die again: payments, whose relay has the rest to do', async (t) => {
  const command = commands.find(({ operation }) => operation === operations.payments.confirmDeposit)
  if (command === undefined) throw new Error('there is no such case')
  const unharmed = await command.prepare(world)
  const expected = await effectOf(command, () => unharmed(randomUUID()))
  const service = 'payments'
  const committed = { service, step: 'commit of outbox, operation, deposit, status_transition', nth: 1 } as const
  const again = [
    { service, step: 'call of wallet.creditAccount', nth: 1, when: 'after' },
    { service, step: 'publication of deposit.confirmed', nth: 1, when: 'before' },
    { service, step: 'publication of deposit.confirmed', nth: 1, when: 'after' },
    { service: 'wallet', step: 'commit of transfer, entry, hold, account', nth: 1, when: 'before' },
    { service: 'wallet', step: 'commit of transfer, entry, hold, account', nth: 1, when: 'after' },
  ] as const
  for (const moment of again) {
    const send = await command.prepare(world)
    const deaths = [{ ...committed, when: 'after' } as const, moment]
    t.same(await effectOf(command, () => sendThrough(deaths, send)), expected, `then ${titleOf(moment)}`)
  }
})

t.test('after all deaths the ledger reconciles', async (t) => {
  await world.settle()
  const { runId } = await world.team(operations.reconciler.reconcileWallet, {})
  const report = await eventually(async () => {
    const { report } = await world.team(operations.reconciler.reconcileWallet, { runId })
    return report ?? false
  })
  t.same(report.differences, [])
  t.same(report.inFlight, [])
})
