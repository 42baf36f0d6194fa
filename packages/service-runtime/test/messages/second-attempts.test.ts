import {
  headerNames,
  operations,
  rpcSubject,
  rpcSubjectOfAll,
  servedSubjects,
  teamSubject,
} from '@backoffice/contracts'
import { hourMs } from '@backoffice/process'
import { RpcClient, repliesOver } from '@backoffice/rpc'
import { eventually, refusal, type Teardown, TestTimers, testBed } from '@backoffice/test-kit'
import { type Msg, headers as natsHeaders } from '@nats-io/transport-node'
import t from 'tap'
import { callsOn } from '../probe-calls.ts'
import { correct, payments, reading, readRecord } from '../probe-services.ts'

const { getWallet } = operations.wallet
const { testWebhook } = operations.webhooks

const bed = await testBed(t, { payments })
const { scope, lock, lockIsAwaited } = callsOn(bed)
await bed.register(scope)
const gateway = await bed.nats('gateway')
const timers = new TestTimers()
const rpc = new RpcClient(gateway, undefined, { timers })
/** A deadline that no operation's own time-out is shorter than. */
const waitsMs = 1_600
const deadline = () => new Date(timers.now() + waitsMs)
/** Passes the time of calls, and lets each attempt arrive whose moment has come. */
async function letTimePass(service: 'wallet' | 'webhooks') {
  for (const part of [1 / 8, 1 / 8, 1 / 4, 1 / 2]) {
    timers.advance(waitsMs * part)
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
  timers.stop(t)
  const messages = await hanging(t, 'wallet')
  const options = { scope, input: { playerId: 'ply_1' }, deadline: deadline(), operationId: 'opn_1' }
  const call = refusal(rpc.call(getWallet, options))
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
  timers.stop(t)
  const messages: Msg[] = []
  const [connection, console] = [await bed.nats('payments'), await bed.nats('console')]
  connection.subscribe(teamSubject(correct), { callback: (_, message) => void messages.push(message) })
  await connection.flush()
  const input = { recordId: 'late', brandId: 'brd_1', secretNote: 'x', reason: 'a typo' }
  const signing = async (ms: number) => {
    timers.advance(ms)
    return { idToken: 'any', proof: 'any' }
  }
  const call = (ms: number) =>
    new RpcClient(console, { sign: () => signing(ms) }, { timers }).call(correct, { input, deadline: deadline() })
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
  timers.stop(t)
  const messages = await hanging(t, 'wallet', (message) => replies.get(attemptOf(message)))
  const call = rpc.call(getWallet, { scope, input: { playerId: 'ply_1' }, deadline: deadline() })
  await eventually(() => messages.length === 1)
  await letTimePass('wallet')
  t.same(await call, reply.body)
})

t.test('only so many second attempts are under way at once', async (t) => {
  timers.stop(t)
  const messages = await hanging(t, 'wallet')
  const calls = Array.from({ length: 130 }, () =>
    refusal(rpc.call(getWallet, { scope, input: { playerId: 'ply_1' }, deadline: deadline() })),
  )
  await eventually(() => messages.length === 130)
  await letTimePass('wallet')
  t.same(new Set(await Promise.all(calls)), new Set(['SERVICE_UNAVAILABLE']))
  t.equal(messages.filter((message) => attemptOf(message) === '').length, 130)
  t.equal(messages.filter((message) => attemptOf(message) !== '').length, 100)
})

t.test('what is not the same when it is done twice is sent once', async (t) => {
  timers.stop(t)
  const messages = await hanging(t, 'webhooks')
  const call = refusal(rpc.call(testWebhook, { scope, input: {}, deadline: deadline() }))
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
  const send = (record: string, attempt: string, subject = rpcSubject(readRecord)) => {
    const headers = natsHeaders()
    headers.set(headerNames.operationId, 'opn_shared')
    if (attempt !== '1') headers.set(headerNames.attempt, attempt)
    const payload = JSON.stringify({ scope, input: { record } })
    return repliesOver(gateway)
      .request({ service: 'payments', subject, payload, timeoutMs: hourMs, headers })
      .then((message) => message.string())
  }
  const attempts = [send('a', '1')]
  await eventually(() => reading.batches.length === 1)
  attempts.push(send('a', '2'), send('a', '4', rpcSubjectOfAll(readRecord)))
  // Another input is another call, whatever its id.
  const other = send('b', '2')
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
