import { abandonOperation } from '@backoffice/contracts'
import { eventually, refusal, testBed } from '@backoffice/test-kit'
import { sql as tag } from 'kysely'
import t from 'tap'
import { newId } from '../../src/index.ts'
import { countUp, createProbeTables, payments, wallet } from '../probe-services.ts'

// One connection: a transaction that needed a second one would wait for ever.
const bed = await testBed(t, { payments, wallet }, { config: { payments: { DATABASE_POOL_MAX: 1 } } })
await createProbeTables(bed)
const scope = bed.scope()

async function countOf(record: string): Promise<number> {
  const { rows } = await bed.sql('payments').query('select count from record where id = $1', [record])
  return rows[0]?.count ?? 0
}

t.test('an operation id has one effect, and its replay the same reply', async (t) => {
  const options = { scope, input: { record: 'replayed' }, operationId: newId('opn') }
  t.same(await bed.rpc.call(countUp, options), { count: 1 })
  t.same(await bed.rpc.call(countUp, options), { count: 1 })
  t.same(await bed.rpc.call(countUp, { scope, input: options.input }), { count: 2 }, 'another id has its own effect')
})

t.test('a replay needs nobody whom the first attempt asked', async (t) => {
  const [operationId, record] = [newId('opn'), 'answered before']
  const away = { scope, input: { record, refuse: 'away' as const } }
  t.equal(await refusal(bed.rpc.call(countUp, { ...away, operationId })), 'SERVICE_UNAVAILABLE')
  t.equal(await countOf(record), 0)
  t.same(await bed.rpc.call(countUp, { scope, input: { record }, operationId }), { count: 1 })
  t.same(await bed.rpc.call(countUp, { ...away, operationId }), { count: 1 })
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
  const { rows } = await bed.sql('payments').query('select kind from outbox where operation_id = $1', [operationId])
  t.equal(rows.length, 2)
})

t.test('two different operations at once on one record both take effect', async (t) => {
  const call = () => bed.rpc.call(countUp, { scope, input: { record: 'shared', sends: ['command', 'event'] } })
  const replies = await Promise.all(Array.from({ length: 10 }, call))
  t.same(
    replies.map(({ count }) => count).sort((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  )
})

for (const refuse of ['prepare', 'execute'] as const) {
  t.test(`a refusal in ${refuse} rolls back its effects and is the stored reply`, async (t) => {
    const operationId = newId('opn')
    const record = `refused-${refuse}`
    const input = { record, refuse, sends: ['event' as const] }
    await t.rejects(bed.rpc.call(countUp, { scope, input, operationId }), { code: 'DEPOSIT_NOT_PENDING' })
    t.equal(await countOf(record), 0)
    const retry = { scope, input: { record }, operationId }
    const stored = await bed.rpc.call(countUp, retry).catch((error) => error)
    t.match(stored, { code: 'DEPOSIT_NOT_PENDING', details: refuse === 'prepare' ? { found: 'before' } : { count: 1 } })
    t.equal(await countOf(record), 0)
    const { rowCount } = await bed.sql('payments').query('select from outbox where aggregate = $1', [record])
    t.equal(rowCount, 0)
  })
}

for (const [refuse, code] of [
  ['undeclared', 'INTERNAL_ERROR'],
  ['bug', 'INTERNAL_ERROR'],
  ['unavailable', 'SERVICE_UNAVAILABLE'],
] as const) {
  t.test(`a fault (${refuse}) is ${code}, leaves nothing, and a retry succeeds`, async (t) => {
    const operationId = newId('opn')
    const record = `faulty-${refuse}`
    t.equal(await refusal(bed.rpc.call(countUp, { scope, input: { record, refuse }, operationId })), code)
    t.equal(await countOf(record), 0)
    t.same(await bed.rpc.call(countUp, { scope, input: { record }, operationId }), { count: 1 })
  })
}

t.test('an operation that sent a command answers when the command is done', async (t) => {
  const operationId = newId('opn')
  await bed.rpc.call(countUp, { scope, input: { record: 'commanding', sends: ['command', 'event'] }, operationId })
  const credited = await bed.sql('wallet').query('select calls from credit where reference = $1', [`${operationId}-0`])
  t.same(credited.rows, [{ calls: 1 }])
})

t.test('until its command is done an operation answers SERVICE_UNAVAILABLE; its replay finishes it', async (t) => {
  const operationId = newId('opn')
  const call = () =>
    bed.rpc.call(countUp, { scope, input: { record: 'waiting', sends: ['command', 'event'] }, operationId })
  let down = true
  wallet.during = async (reference) => {
    if (down && reference.startsWith(operationId)) throw new Error('the wallet is down')
  }
  t.equal(await refusal(call()), 'SERVICE_UNAVAILABLE')
  t.equal(await countOf('waiting'), 1, 'the effect is committed')
  const events = () =>
    bed.sql('payments').query("select done_at from outbox where operation_id = $1 and kind = 'event'", [operationId])
  t.equal((await events()).rows[0].done_at, null, 'its event waits behind the command')
  down = false
  t.same(await call(), { count: 1 })
  await eventually(async () => (await events()).rows[0].done_at !== null)
  t.equal(await countOf('waiting'), 1)
})

t.test('a command behind an unfinished one of its record waits for it', async (t) => {
  const first = newId('opn')
  const second = newId('opn')
  const call = (operationId: string) =>
    bed.rpc.call(countUp, { scope, input: { record: 'queued', sends: ['command'] }, operationId })
  let down = true
  wallet.during = async (reference) => {
    if (down && reference.startsWith(first)) throw new Error('the wallet is down')
  }
  wallet.order.length = 0
  t.equal(await refusal(call(first)), 'SERVICE_UNAVAILABLE')
  const answered = call(second)
  await eventually(async () => (await countOf('queued')) === 2)
  t.same(wallet.order, [])
  down = false
  t.same(await answered, { count: 2 })
  t.same(wallet.order, [`${first}-0`, `${second}-0`])
})

t.test('the deadline of a call bounds its commands', async (t) => {
  let release = () => {}
  wallet.during = () => new Promise((resolve) => (release = resolve))
  const deadline = new Date(Date.now() + 300)
  const started = Date.now()
  const input = { record: 'late', sends: ['command' as const] }
  t.equal(await refusal(bed.rpc.call(countUp, { scope, input, deadline })), 'SERVICE_UNAVAILABLE')
  t.ok(Date.now() - started < 2_000)
  wallet.during = async () => {}
  release()
})

t.test('a call whose deadline has passed is not begun', async (t) => {
  const input = { record: 'expired' }
  const deadline = new Date(Date.now() - 1)
  t.equal(await refusal(bed.rpc.call(countUp, { scope, input, deadline })), 'SERVICE_UNAVAILABLE')
  t.equal(await countOf('expired'), 0)
})

t.test('a tombstone fences whatever comes late with its operation id', async (t) => {
  const abandon = abandonOperation('payments')
  const operationId = newId('opn')
  const input = { abandonedOperationId: operationId }
  t.same(await bed.rpc.call(abandon, { scope, input }), { outcome: 'abandoned', reply: null })
  for (const refuse of [undefined, 'prepare'] as const) {
    const late = { record: 'fenced', ...(refuse === undefined ? {} : { refuse }) }
    t.equal(await refusal(bed.rpc.call(countUp, { scope, input: late, operationId })), 'SERVICE_UNAVAILABLE')
  }
  t.equal(await countOf('fenced'), 0)
  t.same(await bed.rpc.call(abandon, { scope, input }), { outcome: 'abandoned', reply: null }, 'for good')
})

t.test('abandoning what was answered gives its reply', async (t) => {
  const abandon = abandonOperation('payments')
  const answered = newId('opn')
  await bed.rpc.call(countUp, { scope, input: { record: 'resolved' }, operationId: answered })
  t.same(await bed.rpc.call(abandon, { scope, input: { abandonedOperationId: answered } }), {
    outcome: 'replied',
    reply: { count: 1 },
  })
  const refused = newId('opn')
  await refusal(
    bed.rpc.call(countUp, { scope, input: { record: 'resolved', refuse: 'execute' }, operationId: refused }),
  )
  t.match(await bed.rpc.call(abandon, { scope, input: { abandonedOperationId: refused } }), {
    outcome: 'refused',
    reply: { code: 'DEPOSIT_NOT_PENDING' },
  })
})

t.test('entity manager and SQL are one transaction, and no one else sees it before the commit', async (t) => {
  const seen = await bed.services.payments.transact(async ({ em, sql }) => {
    await em.execute("insert into record (id, count) values ('by-em', 1)")
    const own = await tag<{ xid: string; n: string }>`
      select pg_current_xact_id()::text as xid, (select count(*) from record where id = 'by-em') as n
    `.execute(sql)
    const [byEm] = await em.execute('select pg_current_xact_id()::text as xid')
    return { own: own.rows[0], byEm, outside: await countOf('by-em') }
  })
  t.equal(seen.own?.n, '1')
  t.equal(seen.byEm?.xid, seen.own?.xid)
  t.equal(seen.outside, 0)
  t.equal(await countOf('by-em'), 1)
})

t.test('one operation id for two operations is a bug that is said, not answered', async (t) => {
  const operationId = newId('opn')
  await bed.rpc.call(countUp, { scope, input: { record: 'named' }, operationId })
  await bed
    .sql('admin')
    .query("update payments.operation set name = 'confirmDeposit' where operation_id = $1", [operationId])
  t.equal(await refusal(bed.rpc.call(countUp, { scope, input: { record: 'named' }, operationId })), 'INTERNAL_ERROR')
})

t.test('an input that does not fit is refused before anything happens', async (t) => {
  const input = { record: '' }
  t.equal(await refusal(bed.rpc.call(countUp, { scope, input })), 'VALIDATION_ERROR')
})
