import { hash } from 'node:crypto'
import { defined, operations, Rejection } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { RpcClient } from '@backoffice/rpc'
import { allPages, eventually, keptEvents, refusal, TestTimers, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { callsOn, failCredits, holdCredits } from '../probe-calls.ts'
import {
  addUp,
  answerAnything,
  correct,
  countUp,
  crediting,
  faults,
  payments,
  reading,
  readRecord,
  wallet,
} from '../probe-services.ts'

// One connection: a transaction that needed a second one would wait for ever.
const timers = new TestTimers()
const bed = await testBed(t, { payments, wallet }, { timers, config: { payments: { DATABASE_POOL_MAX: 1 } } })
const { scope, add, countOf, lock } = callsOn(bed)
await bed.sql('payments').query("insert into record select 'record ' || n, n from generate_series(1, 100) as n")
const digestOf = (text: string) => hash('sha256', text, 'base64url')
const abandon = operations.payments.abandonOperation

// First, while it has no other entries.
t.test('the audit trail is read page by page, over entries of one moment too', async (t) => {
  await bed.sql('admin').query(
    `insert into payments.audit_entry (id, at, actor, subject, operation, operation_id, reason, input, outcome)
    select 'aud_' || lpad(n::text, 4, '0'), '2026-03-02T12:00:00Z'::timestamptz + n / 100 * interval '1 s',
      case when n % 2 = 0 then 'alice' else 'bob' end, case when n % 3 = 0 then 'wdr_1' else 'wdr_2' end, 'decide', 'opn',
      repeat('😀', 500), json_build_object('reason', repeat('😀', 500)), 'done' from generate_series(1, 400) n`,
  )
  const { listAudit } = operations.payments
  const all = Array.from({ length: 400 }, (_, n) => 400 - n)
  for (const [filter, expected] of [
    [{}, all],
    [{ actor: 'alice' }, all.filter((n) => n % 2 === 0)],
    [{ subject: 'wdr_1' }, all.filter((n) => n % 3 === 0)],
    [{ actor: 'alice', subject: 'wdr_1' }, all.filter((n) => n % 6 === 0)],
    [{ since: '2026-03-02T12:00:03.000Z' }, all.filter((n) => n >= 300)],
  ] as const) {
    const entries = await allPages((before) =>
      bed.team('alice').call(listAudit, { input: { ...filter, limit: 1_000, ...defined({ before }) } }),
    )
    t.same(
      entries.map(({ id }) => id),
      expected.map((n) => `aud_${String(n).padStart(4, '0')}`),
      JSON.stringify(filter),
    )
  }
})

t.test('a replay needs none of the services that the first attempt asked', async (t) => {
  const record = 'answered before'
  const call = (operationId: string) => bed.rpc.call(countUp, { scope, input: { record }, operationId })
  const operationId = newId('opn')
  const unavailable = new Rejection('SERVICE_UNAVAILABLE')
  faults.inPrepare.set(record, unavailable)
  t.equal(await refusal(call(operationId)), 'SERVICE_UNAVAILABLE')
  t.equal(await countOf(record), undefined)
  faults.inPrepare.delete(record)
  t.same(await call(operationId), { count: 1 })
  faults.inPrepare.set(record, unavailable)
  t.same(await call(operationId), { count: 1 })
  t.equal(await refusal(call(newId('opn'))), 'SERVICE_UNAVAILABLE')
  t.equal(await countOf(record), 1)
})

t.test('twenty at once with one operation id make one effect', async (t) => {
  const operationId = newId('opn')
  const input = { record: 'raced', sends: ['command' as const, 'event' as const] }
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => bed.rpc.call(countUp, { scope, input, operationId })),
  )
  t.same(new Set(replies.map(({ count }) => count)), new Set([1]))
  t.equal(await countOf('raced'), 1)
  const credited = await bed.sql('wallet').query('select calls from credit where reference = $1', [`${operationId}-0`])
  t.same(credited.rows, [{ calls: 1 }])
  const published = `select from ${keptEvents('payments')} where message #>> '{event,data,id}' = '${operationId}-1'`
  t.equal((await bed.sql('admin').query(published)).rowCount, 1)
})

for (const [where, details] of [
  ['prepare', { found: 'before' }],
  ['execute', { count: 1 }],
] as const) {
  t.test(`a refusal in ${where} rolls back its effects and is the stored reply`, async (t) => {
    const record = `refused in ${where}`
    const options = { scope, input: { record, sends: ['event' as const] }, operationId: newId('opn') }
    if (where === 'prepare') faults.inPrepare.set(record, new Rejection('TRANSFER_CONFLICT', details))
    else faults.atWork.set(record, (count) => new Rejection('TRANSFER_CONFLICT', { count }))
    await t.rejects(bed.rpc.call(countUp, options), { code: 'TRANSFER_CONFLICT', details })
    t.equal(await countOf(record), undefined)
    faults.inPrepare.delete(record)
    faults.atWork.delete(record)
    await t.rejects(bed.rpc.call(countUp, options), { code: 'TRANSFER_CONFLICT', details })
    t.equal(await countOf(record), undefined)
    const sent = `select from ${keptEvents('payments')} where message #>> '{event,data,id}' like $1 || '-%'`
    const { rowCount } = await bed.sql('admin').query(sent, [options.operationId])
    t.equal(rowCount, 0)
  })
}

for (const [what, fault, code] of [
  ['an undeclared refusal', new Rejection('TRANSFER_NOT_FOUND'), 'INTERNAL_ERROR'],
  ['a bug', new Error('a bug'), 'INTERNAL_ERROR'],
  ['a service that is unavailable', new Rejection('SERVICE_UNAVAILABLE'), 'SERVICE_UNAVAILABLE'],
] as const) {
  t.test(`${what} is ${code}, leaves nothing, and a retry succeeds`, async (t) => {
    const options = { scope, input: { record: what }, operationId: newId('opn') }
    faults.atWork.set(what, () => fault)
    t.equal(await refusal(bed.rpc.call(countUp, options)), code)
    t.equal(await countOf(what), undefined)
    faults.atWork.delete(what)
    t.same(await bed.rpc.call(countUp, options), { count: 1 })
  })
}

t.test('until its command is done an operation answers SERVICE_UNAVAILABLE; its replay finishes it', async (t) => {
  const operationId = newId('opn')
  const call = () =>
    bed.rpc.call(countUp, { scope, input: { record: 'waiting', sends: ['command', 'event'] }, operationId })
  const comeBack = failCredits(operationId)
  t.equal(await refusal(call()), 'SERVICE_UNAVAILABLE')
  t.equal(await countOf('waiting'), 1, 'the effect is committed')
  const events = () =>
    bed.sql('payments').query("select from outbox where operation_id = $1 and kind = 'event'", [operationId])
  t.equal((await events()).rowCount, 1, 'its event waits behind the command')
  comeBack()
  t.same(await call(), { count: 1 })
  await eventually(async () => (await events()).rowCount === 0)
  t.equal(await countOf('waiting'), 1)
})

t.test('a command behind an unfinished one of its record waits for it', async (t) => {
  const first = newId('opn')
  const second = newId('opn')
  const call = (operationId: string) =>
    bed.rpc.call(countUp, { scope, input: { record: 'queued', sends: ['command'] }, operationId })
  const comeBack = failCredits(first)
  crediting.order.length = 0
  t.equal(await refusal(call(first)), 'SERVICE_UNAVAILABLE')
  const answered = call(second)
  await eventually(async () => (await countOf('queued')) === 2)
  t.same(crediting.order, [])
  comeBack()
  t.same(await answered, { count: 2 })
  t.same(crediting.order, [`${first}-0`, `${second}-0`])
})

t.test('the deadline of a call bounds its commands', async (t) => {
  const held = holdCredits()
  t.teardown(held.release)
  // The caller itself does not notice that the time is over, and the command may take longer.
  const caller = new TestTimers()
  for (const stopped of [timers, caller]) stopped.stop(t)
  const rpc = new RpcClient(await bed.nats('gateway'), undefined, { timers: caller })
  const [input, deadline] = [{ record: 'late', sends: ['command' as const] }, new Date(caller.now() + 300)]
  const refused = refusal(rpc.call(countUp, { scope, input, deadline }))
  await eventually(() => held.asked() > 0)
  timers.advance(300)
  t.equal(await refused, 'SERVICE_UNAVAILABLE')
})

t.test('a tombstone fences whatever comes late with its operation id', async (t) => {
  const operationId = newId('opn')
  const input = { abandonedOperationId: operationId }
  t.same(await bed.rpc.call(abandon, { scope, input }), { outcome: 'abandoned', reply: null })
  const late = () => bed.rpc.call(countUp, { scope, input: { record: 'fenced' }, operationId })
  t.equal(await refusal(late()), 'SERVICE_UNAVAILABLE')
  faults.inPrepare.set('fenced', new Rejection('TRANSFER_CONFLICT'))
  t.equal(await refusal(late()), 'SERVICE_UNAVAILABLE', 'refused before its transaction')
  t.equal(await countOf('fenced'), undefined)
  t.same(await bed.rpc.call(abandon, { scope, input }), { outcome: 'abandoned', reply: null }, 'for good')
})

t.test('abandoning what was answered gives its reply', async (t) => {
  const answered = newId('opn')
  await bed.rpc.call(countUp, { scope, input: { record: 'resolved' }, operationId: answered })
  t.same(await bed.rpc.call(abandon, { scope, input: { abandonedOperationId: answered } }), {
    outcome: 'replied',
    reply: { count: 1 },
  })
  const refused = newId('opn')
  faults.atWork.set('refused', () => new Rejection('TRANSFER_CONFLICT'))
  await refusal(bed.rpc.call(countUp, { scope, input: { record: 'refused' }, operationId: refused }))
  t.match(await bed.rpc.call(abandon, { scope, input: { abandonedOperationId: refused } }), {
    outcome: 'refused',
    reply: { code: 'TRANSFER_CONFLICT' },
  })
})

t.test('an operation id stands for one operation and one input; with another it is a conflict', async (t) => {
  const options = { scope, input: { record: 'named' }, operationId: newId('opn') }
  await bed.rpc.call(countUp, options)
  const conflicts = [
    bed.rpc.call(countUp, { ...options, input: { record: 'renamed' } }),
    bed.rpc.call(countUp, { ...options, scope: bed.scope({ brandId: 'brd_other' }) }),
    bed.rpc.call(addUp, { ...options, input: { record: 'named', by: 1 } }),
  ]
  for (const code of await Promise.all(conflicts.map((call) => refusal(call)))) t.equal(code, 'IDEMPOTENCY_CONFLICT')
  t.same(await bed.rpc.call(countUp, options), { count: 1 }, 'the first is not disturbed')
  t.equal(await countOf('renamed'), undefined)
})

t.test('what a gateway of another release reads more of one request is no other call', async (t) => {
  const keyOf = (body: string) => ({
    digest: digestOf('key'),
    request: digestOf(body),
    until: '2026-03-02T12:00:00.000Z',
  })
  const options = { scope, input: { record: 'of two releases' }, operationId: newId('opn'), key: keyOf('sent') }
  t.same(await bed.rpc.call(countUp, options), { count: 1 })
  const readMore = { ...options, input: { ...options.input, sends: [] } }
  t.same(await bed.rpc.call(countUp, readMore), { count: 1 })
  t.equal(await refusal(bed.rpc.call(countUp, { ...readMore, key: keyOf('sent otherwise') })), 'IDEMPOTENCY_CONFLICT')
})

t.test('an operation id of one person of the team is a conflict for another', async (t) => {
  const options = {
    input: { brandId: 'brd_1', recordId: 'corrected', secretNote: 'x', reason: 'wrong' },
    operationId: newId('opn'),
  }
  for (let attempt = 0; attempt < 2; attempt++) t.same(await bed.team('alice').call(correct, options), { count: 1 })
  t.equal(await refusal(bed.team('bob').call(correct, options)), 'IDEMPOTENCY_CONFLICT')
})

t.test('with that one connection, locked records delay no call on another', async (t) => {
  const locked = ['locked 1', 'locked 2', 'locked 3']
  await Promise.all(locked.map((record) => add({ record })))
  const letGo = await lock(locked)
  const waiting = locked.map((record) => refusal(add({ record })))

  // A call waits at most three seconds for a connection: then it is refused.
  const others = []
  for (let round = 0; round < 3; round++)
    others.push(...(await Promise.all(['a', 'b', 'c', 'd'].map((record) => refusal(add({ record }))))))
  t.same(others, Array(12).fill(null))
  await letGo()
  t.same(await Promise.all(waiting), Array(3).fill(null))
})

const admin = bed.sql('admin')
const tables = ['record', 'operation', 'outbox', 'audit_entry']

/** What a call wrote, and in how many transactions. */
async function written(call: () => Promise<unknown>): Promise<{ places: string[]; transactions: number }> {
  await admin.query(`
    create table if not exists public.written (place text not null, xid text not null);
    create or replace function public.note_transaction() returns trigger language plpgsql security definer as $$
    begin insert into public.written values (tg_table_name, pg_current_xact_id()::text); return null; end $$;
    ${tables.map((table) => `create or replace trigger noted after insert on payments.${table} for each row execute function public.note_transaction();`).join('\n')}
    truncate public.written
  `)
  await call()
  const { rows } = await admin.query('select place, xid from public.written')
  return {
    places: [...new Set(rows.map(({ place }) => place))].sort(),
    transactions: new Set(rows.map(({ xid }) => xid)).size,
  }
}

const sends = ['command' as const, 'event' as const]
for (const [what, call] of [
  ['a single command', () => bed.rpc.call(countUp, { scope, input: { record: 'single', sends } })],
  ['a batched command', () => bed.rpc.call(addUp, { scope, input: { record: 'gathered', by: 1, sends } })],
] as const)
  t.test(`${what}: effect, reply and outbox rows are one transaction`, async (t) => {
    t.same(await written(call), { places: ['operation', 'outbox', 'record'], transactions: 1 })
  })

t.test('so are the effect of a person of the team, its reply and its entry in the audit trail', async (t) => {
  const input = { brandId: 'brd_1', recordId: newId('dep'), secretNote: 'x', reason: 'wrong' }
  const call = () => bed.team('alice').call(correct, { input })
  t.same(await written(call), { places: ['audit_entry', 'operation', 'record'], transactions: 1 })
})

const read = (record: string, fails = false) => bed.rpc.call(readRecord, { scope, input: { record, fails } })

/** Holds queries open until so many more calls wait, which then share one. */
async function gatherReads<T>(calls: () => readonly Promise<T>[]): Promise<T[]> {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  reading.during = () => held
  reading.batches.length = 0
  // As many as run at once.
  const openers = [read('record 1')]
  await eventually(() => reading.batches.length === 1)
  openers.push(read('record 1'))
  await eventually(() => reading.batches.length === 2)
  const called = calls()
  // Another connection's round trip later than theirs.
  await (await bed.nats('gateway')).flush()
  await bed.rpc.call(answerAnything, { scope, input: {} })
  reading.during = async () => {}
  release()
  await Promise.all(openers)
  return Promise.all(called)
}

t.test('reads that wait together share a query, and each gets its own reply', async (t) => {
  const numbers = Array.from({ length: 100 }, (_, index) => index + 1)
  const replies = await gatherReads(() => numbers.map((n) => read(`record ${n}`)))
  t.same(
    replies,
    numbers.map((count) => ({ count })),
  )
  const sizes = reading.batches.slice(2).map(({ length }) => length)
  t.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    100,
  )
  t.ok(sizes.length <= 3, `${sizes}`)
})

t.test('what is not found is a refusal of that call alone', async (t) => {
  const replies = await gatherReads(() => [refusal(read('nowhere')), refusal(read('record 1'))])
  t.same(replies, ['DEPOSIT_NOT_FOUND', null])
})

t.test('a call that makes the query fail does so alone', async (t) => {
  const replies = await gatherReads(() => [
    refusal(read('record 1')),
    refusal(read('record 2', true)),
    refusal(read('record 3')),
  ])
  t.same(replies, [null, 'INTERNAL_ERROR', null])
})

t.test('a query cannot write, not even by force', async (t) => {
  t.equal(
    await refusal(bed.rpc.call(answerAnything, { scope, input: { writes: true } })),
    'INTERNAL_ERROR',
    'PostgreSQL refused it',
  )
  const { rowCount } = await bed.sql('payments').query("select from record where id = 'written by a query'")
  t.equal(rowCount, 0)
})
