import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { callTimeoutMs, newId } from '@backoffice/process'
import { RpcClient } from '@backoffice/rpc'
import { eventually, refusal, TestTimers, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { callsOn } from '../probe-calls.ts'
import { addUp, countUp, crediting, payments, wallet } from '../probe-services.ts'
import { startProbe } from '../start-probe.ts'

const bed = await testBed(t, { payments, wallet })
const { scope, unsent } = callsOn(bed)
await bed.services.payments.drain()
await bed.register(scope)
const timers = new TestTimers()
const rpc = new RpcClient(await bed.nats('gateway'), undefined, { timers })
let child = await startProcess()

/** The service in a process of its own, which is up when it answers. */
async function startProcess(): Promise<ChildProcess> {
  const { child } = startProbe(t, bed, { LOG_LEVEL: 'silent' })
  child.setMaxListeners(0)
  const warm = () => bed.rpc.call(countUp, { scope, input: { record: 'warm' }, operationId: 'opn_warm' })
  await eventually(warm)
  return child
}
/** Ends it, and the wait of whoever waits for it. */
async function kill(): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
  timers.advance(callTimeoutMs({}))
}
/** What the process has leased is due, as it is after a while. */
const endLeases = () => bed.sql('payments').query('update outbox set leased_until = now()')

type Sends = readonly ('event' | 'command')[]
/** Calls of which each adds one to a record of its own, to be sent again and again under the same operation ids. */
function calls(name: string, count: number, sends: Sends = [], more: object = {}) {
  const all = Array.from({ length: count }, (_, index) => ({ record: `${name} ${index}`, operationId: newId('opn') }))
  const send = (index: number) => {
    const { record, operationId } = all[index] as (typeof all)[number]
    return rpc.call(addUp, { scope, input: { record, by: 1, sends: [...sends], ...more }, operationId })
  }
  return { all, send, sendAll: () => all.map((_, index) => send(index)) }
}
type Calls = ReturnType<typeof calls>['all']

/** How many of the calls took effect, and how many have a stored reply. */
async function effects(all: Calls): Promise<{ counted: number; stored: number }> {
  const { rows } = await bed.sql('payments').query(
    `select coalesce((select sum(count) from record where id = any($1)), 0)::int as counted,
       (select count(*) from operation where operation_id = any($2))::int as stored`,
    [all.map(({ record }) => record), all.map(({ operationId }) => operationId)],
  )
  return rows[0]
}
async function credits(all: Calls): Promise<number | null> {
  const references = all.map(({ operationId }) => `${operationId}-0`)
  return (await bed.sql('wallet').query('select from credit where reference = any($1)', [references])).rowCount
}
const nothingIsLeft = async () => (await unsent()).length === 0

/** An advisory lock, by which a transaction of the process can be held. */
async function holdLock(lock: number) {
  const session = await bed.sql('admin').connect()
  await session.query(`select pg_advisory_lock(${lock})`)
  return {
    /** Resolves once a transaction waits for it. */
    awaited: () =>
      eventually(async () => {
        const query = `select from pg_locks where locktype = 'advisory' and objid = ${lock} and not granted`
        return (await bed.sql('admin').query(query)).rowCount === 1
      }),
    async release() {
      await session.query(`select pg_advisory_unlock(${lock})`)
      session.release()
    },
  }
}

t.test(
  'a process killed when all of a batch is written and nothing is committed: a retry does all of it',
  async (t) => {
    const lock = await holdLock(8)
    const { all, sendAll } = calls('written', 50, ['command', 'event'], { waitsAfter: 8 })
    const lost = sendAll().map(refusal)
    await lock.awaited()
    await kill()
    t.same(await effects(all), { counted: 0, stored: 0 })
    await lock.release()
    for (const code of await Promise.all(lost)) t.equal(code, 'SERVICE_UNAVAILABLE')

    child = await startProcess()
    t.same(await Promise.all(sendAll()), Array(50).fill({ count: 1 }))
    t.same(await effects(all), { counted: 50, stored: 50 })
    t.equal(await credits(all), 50)
    await eventually(nothingIsLeft)
  },
)

t.test('a process killed after the commit of a batch: every reply is kept, and every command is done', async (t) => {
  const { all, send, sendAll } = calls('committed', 50, ['command', 'event'])
  crediting.during = async () => {
    throw await once(child, 'exit').then(() => new Error('too late for its caller'))
  }
  const lost = sendAll().map(refusal)
  await eventually(async () => (await effects(all)).stored === 50)
  await kill()
  crediting.during = async () => {}
  await Promise.all(lost)

  child = await startProcess()
  t.same(await send(7), { count: 1 })
  await endLeases()
  await eventually(async () => (await credits(all)) === 50)
  t.same(await Promise.all(sendAll()), Array(50).fill({ count: 1 }))
  t.same(await effects(all), { counted: 50, stored: 50 })
  await eventually(nothingIsLeft)
})

t.test('killed again and again at any moment: each call takes effect once, and each is answered', async (t) => {
  const { all, send } = calls('any moment', 120, ['command', 'event'])
  let answered = 0
  let starting: Promise<unknown> = Promise.resolve()
  const untilAnswered = async (index: number) => {
    for (;;) {
      try {
        const reply = await send(index)
        answered++
        return reply
      } catch {
        await starting
      }
    }
  }
  const replies = all.map((_, index) => untilAnswered(index))
  for (const until of [5, 40, 90]) {
    await eventually(() => answered >= until)
    const { promise: isUp, resolve: up } = Promise.withResolvers<void>()
    starting = isUp
    await kill()
    child = await startProcess()
    up()
  }
  t.same(await Promise.all(replies), Array(120).fill({ count: 1 }))
  t.same(await effects(all), { counted: 120, stored: 120 })
  t.equal(await credits(all), 120)
  await eventually(nothingIsLeft)
})
