import {
  headerNames,
  operations,
  operator,
  rpcSubject,
  rpcSubjectOfAll,
  type Scope,
  servedSubjects,
  service,
  teamSubject,
} from '@backoffice/contracts'
import { hourMs, newId } from '@backoffice/process'
import { RpcClient, repliesOver } from '@backoffice/rpc'
import { eventually, refusal, type Teardown, TestTimers, testBed } from '@backoffice/test-kit'
import { type Msg, headers as natsHeaders } from '@nats-io/transport-node'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { UnfinishedOperation } from '../../src/index.ts'
import { callsOn } from '../probe-calls.ts'
import {
  addUp,
  answerAnything,
  correct,
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

t.test('what nobody waits for any more is not begun, batched or not', async (t) => {
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
  t.equal((await bed.sql('payments').query("select from record where id = 'a'")).rowCount, 0)
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

const { getWallet } = operations.wallet
const { testWebhook } = operations.webhooks

const { lock, lockIsAwaited } = callsOn(bed)
/** Of the client: the service's own are `timers`. */
const callTimers = new TestTimers()
const asking = new RpcClient(gateway, undefined, { timers: callTimers })
/** A deadline that no operation's own time-out is shorter than. */
const waitsMs = 1_600
const deadline = () => new Date(callTimers.now() + waitsMs)
/** Passes the time of calls, and lets each attempt arrive whose moment has come. */
async function letTimePass(service: 'wallet' | 'webhooks') {
  for (const part of [1 / 8, 1 / 8, 1 / 4, 1 / 2]) {
    callTimers.advance(waitsMs * part)
    await new Promise(setImmediate)
    await gateway.flush()
    await (await bed.nats(service)).flush()
  }
}
const attemptOf = (message: Msg) => message.headers?.get(headerNames.attempt) ?? ''

/** What a service is sent whose replicas all hang, unless `reply` says something. */
async function hanging(
  t: Teardown,
  service: 'wallet' | 'webhooks',
  reply: (message: Msg) => unknown = () => undefined,
) {
  const messages: Msg[] = []
  const connection = await bed.nats(service)
  const callback = (_: unknown, message: Msg) => {
    messages.push(message)
    const body = reply(message)
    if (body !== undefined) message.respond(JSON.stringify(body))
  }
  const { rpc, all } = servedSubjects(service)
  for (const subscription of [
    connection.subscribe(rpc, { callback, queue: service }),
    connection.subscribe(all, { callback }),
  ])
    t.teardown(() => subscription.unsubscribe())
  await connection.flush()
  return messages
}

t.test('a call that gets no reply is sent twice more, and then to all replicas, as the same operation', async (t) => {
  callTimers.stop(t)
  const messages = await hanging(t, 'wallet')
  const options = { scope, input: { playerId: 'ply_1' }, deadline: deadline(), operationId: 'opn_1' }
  const call = refusal(asking.call(getWallet, options))
  await eventually(() => messages.length === 1)
  await letTimePass('wallet')
  t.equal(await call, 'SERVICE_UNAVAILABLE')
  const [one, all] = [rpcSubject(getWallet), rpcSubjectOfAll(getWallet)]
  t.same(
    messages.map((message) => [message.subject, attemptOf(message), message.headers?.get(headerNames.operationId)]),
    [
      [one, '', 'opn_1'],
      [one, '2', 'opn_1'],
      [one, '3', 'opn_1'],
      [all, '4', 'opn_1'],
    ],
  )
  const left = messages.map(({ headers }) => Number(headers?.get(headerNames.timeoutMs)))
  t.same(left, [1_600, 1_400, 1_200, 800], 'each attempt has the time that is left')
})

t.test('an attempt whose time was over before it could be sent is not sent', async (t) => {
  callTimers.stop(t)
  const messages: Msg[] = []
  const [connection, console] = [await bed.nats('payments'), await bed.nats('console')]
  connection.subscribe(teamSubject(correct), { callback: (_, message) => void messages.push(message) })
  await connection.flush()
  const input = { recordId: 'late', brandId: 'brd_1', secretNote: 'x', reason: 'a typo' }
  const signing = async (ms: number) => {
    callTimers.advance(ms)
    return { idToken: 'any', proof: 'any' }
  }
  const call = (ms: number) =>
    new RpcClient(console, { sign: () => signing(ms) }, { timers: callTimers }).call(correct, {
      input,
      deadline: deadline(),
    })
  t.equal(await refusal(call(waitsMs)), 'SERVICE_UNAVAILABLE')
  t.equal(await refusal(call(waitsMs - 1)), 'LOGIN_REQUIRED', 'and one that comes in time is')
  await connection.flush()
  t.equal(messages.length, 1)
})

t.test('the first reply counts, but not that one replica is unavailable while another may reply', async (t) => {
  const body = { playerId: 'ply_1', currency: 'BRL', available: '1.00', withdrawable: '1.00', updatedAt: null }
  const reply = { body: { ...body, updatedAt: '2026-03-02T12:00:00.000Z' } }
  const replies = new Map<string, unknown>([
    ['2', { error: { code: 'SERVICE_UNAVAILABLE', message: 'busy' } }],
    ['3', reply],
  ])
  callTimers.stop(t)
  const messages = await hanging(t, 'wallet', (message) => replies.get(attemptOf(message)))
  const call = asking.call(getWallet, { scope, input: { playerId: 'ply_1' }, deadline: deadline() })
  await eventually(() => messages.length === 1)
  await letTimePass('wallet')
  t.same(await call, reply.body)
})

t.test('only so many second attempts are under way at once', async (t) => {
  callTimers.stop(t)
  const messages = await hanging(t, 'wallet')
  const calls = Array.from({ length: 130 }, () =>
    refusal(asking.call(getWallet, { scope, input: { playerId: 'ply_1' }, deadline: deadline() })),
  )
  await eventually(() => messages.length === 130)
  await letTimePass('wallet')
  t.same(new Set(await Promise.all(calls)), new Set(['SERVICE_UNAVAILABLE']))
  t.equal(messages.filter((message) => attemptOf(message) === '').length, 130)
  t.equal(messages.filter((message) => attemptOf(message) !== '').length, 100)
})

t.test('what is not the same when it is done twice is sent once', async (t) => {
  callTimers.stop(t)
  const messages = await hanging(t, 'webhooks')
  const call = refusal(asking.call(testWebhook, { scope, input: {}, deadline: deadline() }))
  await eventually(() => messages.length === 1)
  await letTimePass('webhooks')
  t.equal(await call, 'SERVICE_UNAVAILABLE')
  t.equal(messages.length, 1)
})

t.test('a second attempt that reaches the replica at work runs nothing, and gets the same reply', async (t) => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  reading.during = () => held
  reading.batches.length = 0
  t.teardown(() => {
    reading.during = async () => {}
  })
  const sendAttempt = (record: string, attempt: string, subject = rpcSubject(readRecord)) => {
    const headers = natsHeaders()
    headers.set(headerNames.operationId, 'opn_shared')
    if (attempt !== '1') headers.set(headerNames.attempt, attempt)
    const payload = JSON.stringify({ scope, input: { record } })
    return repliesOver(gateway)
      .request({ service: 'payments', subject, payload, timeoutMs: hourMs, headers })
      .then((message) => message.string())
  }
  const attempts = [sendAttempt('a', '1')]
  await eventually(() => reading.batches.length === 1)
  attempts.push(sendAttempt('a', '2'), sendAttempt('a', '4', rpcSubjectOfAll(readRecord)))
  // Another input is another call, whatever its id.
  const other = sendAttempt('b', '2')
  await eventually(() => reading.batches.length === 2)
  letGo()
  const [first, ...again] = await Promise.all(attempts)
  t.match(first, 'DEPOSIT_NOT_FOUND')
  t.same(again, [first, first])
  t.match(await other, 'DEPOSIT_NOT_FOUND')
  t.same(reading.batches, [['a'], ['b']])
})

t.test('who repeats a call of the team without its proof gets nothing, however well they know it', async (t) => {
  const input = { recordId: 'held', brandId: 'brd_1', secretNote: 'x', reason: 'a typo' }
  const alice = bed.team('alice')
  await alice.call(correct, { input })
  const letGo = await lock(['held'])
  const first = alice.call(correct, { input, operationId: 'opn_held' })
  await lockIsAwaited()
  const headers = natsHeaders()
  headers.set(headerNames.operationId, 'opn_held')
  headers.set(headerNames.attempt, '2')
  const console = await bed.nats('console')
  const payload = JSON.stringify({ input })
  const repeated = repliesOver(console).request({
    service: 'payments',
    subject: teamSubject(correct),
    payload,
    timeoutMs: hourMs,
    headers,
  })
  t.match((await repeated).string(), /LOGIN_REQUIRED/)
  await letGo()
  t.same(await first, { count: 2 })
})

t.test('whoever nobody answers hears that the outcome is unknown', async (t) => {
  await bed.services.payments.drain()
  t.equal(await refusal(bed.rpc.call(countUp, { scope, input: { record: 'nobody' } })), 'SERVICE_UNAVAILABLE')
})
