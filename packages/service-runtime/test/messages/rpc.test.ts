import { headerNames, operations, operator, rpcSubject, type Scope, service } from '@backoffice/contracts'
import { hourMs, newId } from '@backoffice/process'
import { RpcClient, repliesOver } from '@backoffice/rpc'
import { eventually, refusal, TestTimers, testBed } from '@backoffice/test-kit'
import { headers as natsHeaders } from '@nats-io/transport-node'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { UnfinishedOperation } from '../../src/index.ts'
import {
  addUp,
  answerAnything,
  countInSandbox,
  countUp,
  faults,
  payments,
  reading,
  readRecord,
} from '../probe-services.ts'

const timers = new TestTimers()
const bed = await testBed(t, { payments }, { timers })
const scope = bed.scope()
await bed.register(scope)
const gateway = await bed.nats('gateway')

/** Sends what the client never would. */
async function send(subject: string, payload: string, header: Readonly<Record<string, string>> = {}) {
  const headers = natsHeaders()
  for (const [name, value] of Object.entries(header)) headers.set(name, value)
  const reply = await repliesOver(gateway).request({
    service: 'payments',
    subject,
    payload,
    timeoutMs: hourMs,
    headers,
  })
  return reply.json<{ body?: unknown; error?: { code: string } }>()
}

t.test('an operation of the sandbox is refused for production, whoever asks', async (t) => {
  const input = { record: 'played with' }
  const production = bed.scope({ environment: 'production' })
  t.equal(await refusal(bed.rpc.call(countInSandbox, { scope: production, input })), 'SANDBOX_ONLY')
  t.same(await bed.rpc.call(countInSandbox, { scope, input }), { count: 1 })
})

t.test('a request whose reply would go elsewhere than to an inbox is neither answered nor run', async (t) => {
  const heard: string[] = []
  const listener = await bed.nats('payments')
  listener.subscribe('team.payments.*', { callback: (_error, { subject }) => void heard.push(subject) })
  const queue = 'payments'
  listener.subscribe('rpc.payments.openHold', { queue, callback: (_error, { subject }) => void heard.push(subject) })
  await listener.flush()
  const request = JSON.stringify({ scope, input: { record: 'deputy' } })
  for (const reply of [
    'team.payments.decideWithdrawal',
    'rpc.payments.openHold',
    '_INBOX.any',
    '_INBOX_gateway.wallet.any.1',
    undefined,
  ])
    gateway.publish(rpcSubject(countUp), request, reply === undefined ? {} : { reply })
  // Calls that come after them have all the time that those would need.
  for (let count = 1; count <= 5; count++)
    t.same(await bed.rpc.call(countUp, { scope, input: { record: 'deputy' } }), { count })
  await listener.flush()
  t.same(heard, [])
})

t.test('a reply that is too large to send is an error, and the process lives', async (t) => {
  const call = (bytes: number) => bed.rpc.call(answerAnything, { scope, input: { bytes } })
  t.equal(await refusal(call(1_000_001)), 'INTERNAL_ERROR')
  t.equal((await call(900_000)).text.length, 900_000)
})

t.test('a writer is strict: a reply with a field that the table does not know is a bug', async (t) => {
  const call = (surplus: boolean) => bed.rpc.call(answerAnything, { scope, input: { surplus } })
  t.equal(await refusal(call(true)), 'INTERNAL_ERROR')
  t.same(await call(false), { text: 'x' })
})

t.test('a reader is tolerant: the service may be of the next release, and its reply have more fields', async (t) => {
  // The same operation, as a release before knew it.
  const { createDeposit: older } = service('payments', {
    createDeposit: operator.command({
      summary: 'Count up',
      body: countUp.body,
      reply: Type.Object({}, { additionalProperties: false }),
    }),
  })
  t.same(await bed.rpc.call(older, { scope, input: { record: 'newer' } }), {}, 'and gets what it knows')
})

t.test('an input may have more fields: its caller may be of the next release', async (t) => {
  const operationId = newId('opn')
  const call = (note: string) => {
    const input = { record: 'noted', note, sends: [] }
    return send(rpcSubject(countUp), JSON.stringify({ scope, input }), { [headerNames.operationId]: operationId })
  }
  t.same(await call('a'), { body: { count: 1 } })
  t.same(await call('a'), { body: { count: 1 } }, 'a retry is told by all that was sent, as in that release')
  t.match(await call('b'), { error: { code: 'IDEMPOTENCY_CONFLICT' } })
})

t.test('a stored reply may have more fields: a process of the next release may have stored it', async (t) => {
  const operationId = newId('opn')
  const payload = JSON.stringify({ scope, input: { record: 'stored' } })
  const call = () => send(rpcSubject(countUp), payload, { [headerNames.operationId]: operationId })
  t.same(await call(), { body: { count: 1 } })
  const reply = { body: { count: 1, total: 7 } }
  await bed.sql('payments').query('update operation set reply = $2 where operation_id = $1', [operationId, reply])
  t.same(await call(), reply, 'it is sent as it was stored')
})

t.test('a reply without what the table promises is no reply', async (t) => {
  const { createDeposit: newer } = service('payments', {
    createDeposit: operator.command({
      summary: 'Count up',
      body: countUp.body,
      reply: Type.Object({ count: Type.Integer(), total: Type.Integer() }),
    }),
  })
  t.equal(await refusal(bed.rpc.call(newer, { scope, input: { record: 'older' } })), 'INTERNAL_ERROR')
})

t.test('a call is worked on for as long as its caller waits', async (t) => {
  timers.stop(t)
  let tries = 0
  faults.atWork.set('blocked', () => {
    tries += 1
    return new UnfinishedOperation(newId('opn'))
  })
  t.teardown(() => faults.atWork.clear())
  const payload = JSON.stringify({ scope, input: { record: 'blocked', by: 1 } })
  let isOver = false
  const call = send(rpcSubject(addUp), payload, { [headerNames.timeoutMs]: '300' }).finally(() => (isOver = true))
  await eventually(() => tries > 0)
  timers.advance(299)
  const before = tries
  await eventually(() => tries > before + 2)
  t.notOk(isOver)
  timers.advance(1)
  t.match(await call, { error: { code: 'SERVICE_UNAVAILABLE' } })
})

t.test('what nobody waits for any more is not begun, gathered or not', async (t) => {
  const past = { [headerNames.timeoutMs]: '-1' }
  for (const operation of [addUp, countUp]) {
    const input = { record: `too late ${operation.id}`, ...(operation === addUp ? { by: 1 } : {}) }
    const late = await send(rpcSubject(operation), JSON.stringify({ scope, input }), past)
    t.match(late, { error: { code: 'SERVICE_UNAVAILABLE' } })
  }
  t.equal((await bed.sql('payments').query("select from record where id like 'too late %'")).rowCount, 0)
})

t.test('what is no request is answered with an error', async (t) => {
  const subject = rpcSubject(countUp)
  t.match(await send(subject, 'no json'), { error: { code: 'INTERNAL_ERROR' } })
  t.match(await send(subject, JSON.stringify({ input: { record: 'a' } })), { error: { code: 'INTERNAL_ERROR' } })
  t.same(
    await bed
      .sql('payments')
      .query("select from record where id = 'a'")
      .then(({ rowCount }) => rowCount),
    0,
  )
})

t.test('what the next release asks is not refused here, since a refusal is kept as the reply', async (t) => {
  const unavailable = { error: { code: 'SERVICE_UNAVAILABLE' } }
  t.match(await send('rpc.payments.cancelWithdrawal', JSON.stringify({ scope, input: {} })), unavailable)
  const newForm = { record: 'new form', sends: ['letter'] }
  t.match(await send(rpcSubject(countUp), JSON.stringify({ scope, input: newForm })), unavailable)
  t.equal((await bed.sql('payments').query("select from record where id = 'new form'")).rowCount, 0)
})

t.test('the calls of one brand take at most half of the places: there is room for the others', async (t) => {
  await bed.rpc.call(addUp, { scope, input: { record: 'read', by: 1 } })
  const { promise: gate, resolve: release } = Promise.withResolvers<void>()
  reading.during = () => gate
  // Not by the client, which would send again what waits for long on a busy machine.
  const read = async (from = scope) => {
    const payload = JSON.stringify({ scope: from, input: { record: 'read' } })
    const { error } = await send(rpcSubject(readRecord), payload, { [headerNames.timeoutMs]: String(hourMs) })
    return error?.code ?? null
  }
  const another = bed.scope({ brandId: 'brd_of_another' })
  await bed.register(another)
  const codes: (string | null)[] = []
  const burst = Array.from({ length: 1_050 }, async () => codes.push(await read()))
  await eventually(() => codes.length === 50)
  t.same(new Set(codes), new Set(['SERVICE_UNAVAILABLE']))
  const other = read(another)
  release()
  t.equal(await other, null)
  await Promise.all(burst)
  t.equal(codes.filter((code) => code === null).length, 1_000)
  reading.during = async () => {}
})

// A client that registers nothing by itself.
const rpc = new RpcClient(gateway)
const { registerBrand } = operations.payments

const register = (scope: Scope) => rpc.call(registerBrand, { scope, input: {} })
const countedUp = async (scope: Scope) => (await rpc.call(countUp, { scope, input: { record: 'counted' } })).count
const count = async () => {
  const { rows } = await bed.sql('payments').query("select count from record where id = 'counted'")
  return rows[0]?.count ?? 0
}
const keptOf = async (brandId: string) =>
  (await bed.sql('payments').query('select * from brand where id = $1', [brandId])).rows[0]

const production = bed.scope({ environment: 'production', brandId: 'brd_registered_late' })
const lies: Readonly<Record<string, Partial<Scope>>> = {
  'another environment': { environment: 'sandbox' },
  'another operator': { operatorId: 'op_other' },
  'another currency': { currency: 'USD' },
  'another time zone': { timeZone: 'Asia/Tokyo' },
}

t.test('a call is for a later moment until its brand is registered, and is then taken at once', async (t) => {
  t.equal(await refusal(countedUp(production)), 'SERVICE_UNAVAILABLE')
  t.equal(await count(), 0)
  await register(production)
  t.equal(await countedUp(production), 1)
})

t.test('a brand that is registered again stays as it is, and with anything else it is refused', async (t) => {
  const kept = await keptOf(production.brandId)
  t.same(await register(production), { brandId: production.brandId })
  for (const [what, lie] of Object.entries(lies))
    t.equal(await refusal(register({ ...production, ...lie })), 'INTERNAL_ERROR', what)
  t.same(await keptOf(production.brandId), kept)
})

for (const [what, lie] of Object.entries(lies)) {
  t.test(`a call that says ${what} than its brand has is refused and does nothing`, async (t) => {
    const before = await count()
    t.equal(await refusal(countedUp({ ...production, ...lie })), 'INTERNAL_ERROR')
    t.equal(await count(), before)
  })
}

t.test('of two that register one brand differently at once one is refused', async (t) => {
  const asked = ['sandbox', 'production'].flatMap((environment) =>
    Array.from({ length: 5 }, () => ({ ...production, brandId: 'brd_raced', environment }) as Scope),
  )
  const outcomes = await Promise.all(asked.map((scope) => refusal(register(scope))))
  const { environment } = await keptOf('brd_raced')
  t.same(
    outcomes,
    asked.map((scope) => (scope.environment === environment ? null : 'INTERNAL_ERROR')),
  )
})

t.test('a process that knows a brand reads nothing of it again', async (t) => {
  const admin = bed.sql('admin')
  await admin.query('alter table payments.brand rename to away')
  t.teardown(() => admin.query('alter table payments.away rename to brand'))
  const before = await count()
  t.equal(await countedUp(production), before + 1)
})

t.test('only the gateway may register a brand', async (t) => {
  const players = await bed.nats('players')
  const request = players.request(rpcSubject(registerBrand), '{}', { timeout: hourMs })
  t.match(await request.then(() => 'sent', String), /permission/i)
})

t.test('whoever nobody answers hears that the outcome is unknown', async (t) => {
  await bed.services.payments.drain()
  t.equal(await refusal(bed.rpc.call(countUp, { scope, input: { record: 'nobody' } })), 'SERVICE_UNAVAILABLE')
})
