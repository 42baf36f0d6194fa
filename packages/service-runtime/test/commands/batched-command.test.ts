import { operations, Rejection } from '@backoffice/contracts'
import { connectDatabase } from '@backoffice/database'
import { noVault } from '@backoffice/database/vault'
import { limitsMs, loadConfig, newId } from '@backoffice/process'
import { eventually, holdOpen, refusal, TestTimers, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { batchedAttempts } from '../../src/commands/command.ts'
import { isPassingFault, type LockingDb, sql, UnfinishedOperation } from '../../src/index.ts'
import { serviceConfig } from '../../src/settings.ts'
import { breakingLine } from '../breaking-line.ts'
import { type AddInput, attemptOn, callsOn, failCredits, holdCredits, records } from '../probe-calls.ts'
import { adding, addUp, countUp, faults, payments, readRecord, wallet } from '../probe-services.ts'

const timers = new TestTimers()
const bed = await testBed(t, { payments, wallet }, { timers })
const { scope, add, countOf, gather, lock } = callsOn(bed)

async function stored(operationId: string): Promise<boolean> {
  const { rowCount } = await bed.sql('payments').query('select from operation where operation_id = $1', [operationId])
  return rowCount === 1
}

t.test('calls that wait together are one transaction; refusals touch nobody else and are stored', async (t) => {
  const names = records('together', 100)
  const refused = names.filter((_, index) => index % 10 === 3)
  for (const name of refused) faults.atWork.set(name, (count) => new Rejection('TRANSFER_CONFLICT', { count }))
  const ids = names.map(() => newId('opn'))
  const call = () => names.map((record, index) => add({ record, by: index }, ids[index]).catch((error) => error))
  const outcomes = await Promise.all(await gather(100, call))
  const expected = names.map((name, index) =>
    refused.includes(name) ? { code: 'TRANSFER_CONFLICT', details: { count: index } } : { count: index },
  )
  t.match(outcomes, expected)
  t.equal(adding.batches.at(-1)?.length, 100)
  const { rows } = await bed
    .sql('payments')
    .query(
      'select count(*)::int as stored, count(distinct xmin::text)::int as transactions from operation where operation_id = any($1)',
      [ids],
    )
  t.same(rows, [{ stored: 100, transactions: 1 }])
  for (const name of refused) t.equal(await countOf(name), undefined)

  faults.atWork.clear()
  t.match(await Promise.all(call()), expected, 'replayed')
  t.equal(await countOf('together 42'), 42)
})

t.test('a refusal before the transaction is stored with the batch', async (t) => {
  faults.inPrepare.set('early', new Rejection('TRANSFER_CONFLICT', { found: 'before' }))
  const operationId = newId('opn')
  const [early, other] = await gather(2, () => [
    add({ record: 'early' }, operationId).catch((error) => error),
    add({ record: 'not early' }),
  ])
  t.match(await early, { code: 'TRANSFER_CONFLICT', details: { found: 'before' } })
  t.same(await other, { count: 1 })
  faults.inPrepare.clear()
  t.match(await add({ record: 'early' }, operationId).catch((error) => error), { details: { found: 'before' } })
})

for (const [what, fault, code] of [
  ['an undeclared refusal', new Rejection('TRANSFER_NOT_FOUND'), 'INTERNAL_ERROR'],
  ['a bug', new TypeError('a bug'), 'INTERNAL_ERROR'],
] as const) {
  t.test(`${what} is ${code} of its call alone, leaves nothing, and a retry succeeds`, async (t) => {
    faults.atWork.set(what, () => fault)
    const operationId = newId('opn')
    const [failed, other] = await gather(2, () => [
      refusal(add({ record: what }, operationId)),
      add({ record: `not ${what}` }),
    ])
    t.equal(await failed, code)
    t.same(await other, { count: 1 })
    t.notOk(await stored(operationId))
    faults.atWork.clear()
    t.same(await add({ record: what }, operationId), { count: 1 })
  })
}

t.test('what is sent together with BEGIN locks, and writes nothing', async (t) => {
  t.teardown(() => {
    adding.during = async () => {}
  })
  const writes: readonly ((db: LockingDb) => Promise<unknown>)[] = [
    (db) => db`insert into record (id, count) values ('loaded', 1)`,
    (db) => db`with new as (select 1) update record set count = 9 from new`,
    (db) =>
      db.lock([sql`insert into record (id, count) values ('loaded', 1) on conflict (id) do update set count = 9`]),
    (db) => db.lock([sql`delete from record`]),
    (db) => db.em(),
  ]
  for (const write of writes) {
    adding.during = async (db) => void (await write(db))
    t.equal(await refusal(add({ record: 'loading' })), 'INTERNAL_ERROR')
  }
  adding.during = (db) =>
    db.lock([
      sql`insert into record (id, count) values ('locked', 0) on conflict do nothing`,
      sql`select from record where id = 'locked' for update`,
    ])
  t.same(await add({ record: 'loading' }), { count: 1 })
  t.same([await countOf('loaded'), await countOf('locked')], [undefined, 0])
})

t.test('two replicas that get one operation at once: one effect, and one reply for both', async (t) => {
  const replica = await bed.start('payments')
  let met = 0
  for (let round = 0; round < 20; round++) {
    const record = `met ${round}`
    const until = adding.prepared + 2
    const before = adding.batches.length
    // Each has looked for the operation before either writes it.
    adding.during = async () => void (await eventually(() => adding.prepared >= until))
    const operationId = newId('opn')
    const sends = ['command' as const, 'event' as const]
    const replies = await Promise.all([1, 2].map(() => add({ record, sends }, operationId)))
    t.same(replies, [{ count: 1 }, { count: 1 }])
    t.equal(await countOf(record), 1)
    if (adding.batches.length - before > 2) met++
  }
  adding.during = async () => {}
  t.ok(met > 0, `${met} times the loser ran again`)
  const { rows } = await bed.sql('wallet').query('select max(calls) as calls, count(*)::int as credits from credit')
  t.same(rows[0].credits, 20)
  await replica.drain()
})

t.test('one operation id with two inputs at once: one takes effect, the other is a conflict', async (t) => {
  const operationId = newId('opn')
  const outcomes = await Promise.all(
    await gather(2, () => ['a', 'b'].map((record) => refusal(add({ record: `twofold ${record}` }, operationId)))),
  )
  t.same(outcomes.toSorted(), ['IDEMPOTENCY_CONFLICT', null])
  t.equal(((await countOf('twofold a')) ?? 0) + ((await countOf('twofold b')) ?? 0), 1)
})

t.test('a call that has to wait for an unfinished operation waits alone, and then begins again', async (t) => {
  const unfinished = newId('opn')
  let down = true
  const comeBack = failCredits(unfinished)
  t.equal(
    await refusal(
      bed.rpc.call(countUp, { scope, input: { record: 'elsewhere', sends: ['command'] }, operationId: unfinished }),
    ),
    'SERVICE_UNAVAILABLE',
  )
  faults.atWork.set('blocked', () => (down ? new UnfinishedOperation(unfinished) : undefined))
  const [blocked, ...others] = await gather(6, () => [
    add({ record: 'blocked' }),
    ...records('beside blocked', 5).map((record) => add({ record })),
  ])
  t.same(await Promise.all(others), Array(5).fill({ count: 1 }))
  t.equal(await countOf('blocked'), undefined)
  down = false
  comeBack()
  t.same(await blocked, { count: 1 })
  faults.atWork.clear()
})

t.test('a call whose caller has left while it waited is not begun', async (t) => {
  const operationId = newId('opn')
  timers.stop(t)
  const leavesAfterMs = limitsMs.call / 2
  const call = () => [
    refusal(add({ record: 'left' }, operationId, new Date(Date.now() + leavesAfterMs))),
    add({ record: 'stayed' }),
  ]
  // A deadline travels as a duration, so it counts from the call's arrival.
  const [late, other] = await gather(2, call, () => timers.advance(leavesAfterMs))
  t.equal(await late, 'SERVICE_UNAVAILABLE')
  t.same(await other, { count: 1 })
  t.notOk(await stored(operationId))
})

t.test('two calls of one batch that send about one record are a bug that is said, and both take effect', async (t) => {
  const said: unknown[] = []
  const { db, log } = bed.services.payments
  const loud = Object.assign(Object.create(log), { error: (...line: unknown[]) => said.push(line) })
  let before = 0
  const command = {
    conflictKeys: ({ input }: { input: AddInput }) => [input.record],
    load: async (calls: readonly unknown[]) => calls.map(() => before++),
    decide: ({ input }: { input: AddInput }) => ({
      reply: { count: 1 },
      change: null,
      sends: [{ kind: 'webhook.test', aggregate: input.about, scope, data: { message: 'x' } }],
    }),
    save: () => [],
  }
  const batcher = batchedAttempts(addUp, command as never, { db, timers, log: loud })
  const attempts = ['one', 'other'].map((record) => attemptOn(record, { input: { record, by: 1, about: 'shared' } }))
  const outcomes = await Promise.all(attempts.map((each) => batcher.add(each)))
  t.match(outcomes, [{ is: 'replied' }, { is: 'replied' }])
  t.equal(said.length, 1)
  t.match(String((said[0] as [{ err: Error }])[0].err), /conflictKeys.*must name it/)
  const { rows } = await bed
    .sql('payments')
    .query("select aggregate_seq from outbox where aggregate = 'shared' order by 1")
  t.same(rows, [{ aggregate_seq: '1' }, { aggregate_seq: '2' }])
})

t.test(
  'a change of a row that is not there ends the transaction, and what was written beside it is not kept',
  async (t) => {
    const { db, log } = bed.services.payments
    const command = (id: string) => ({
      conflictKeys: ({ input }: { input: AddInput }) => [input.record],
      load: async (calls: readonly unknown[]) => calls.map(() => null),
      decide: () => ({ reply: { count: 1 }, change: id }),
      save: (changes: readonly unknown[]) => [
        sql`insert into record (id, count) values (${`beside ${id}`}, 1)`,
        sql.everyRow(changes, sql`update record set count = count + 1 where id = ${id}`),
      ],
    })
    const outcomeOf = (id: string) =>
      batchedAttempts(addUp, command(id) as never, { db, timers, log }).add(
        attemptOn(id, { input: { record: id, by: 1 } }),
      )
    t.match(await outcomeOf('nobody').catch((error) => error), { code: '22012' })
    t.equal(await countOf('beside nobody'), undefined)
    await add({ record: 'somebody' })
    t.match(await outcomeOf('somebody'), { is: 'replied' })
    t.equal(await countOf('beside somebody'), 1)
  },
)

t.test(
  'a batch whose commit nobody heard of is an unknown outcome for each call, and a retry finds its reply',
  async (t) => {
    let breaks = false
    const url = await breakingLine(t, {
      to: bed.environment('payments').DATABASE_URL as string,
      // Once: between a commit and its answer.
      fate(chunk, from) {
        if (!breaks || from === 'client' || !chunk.includes('COMMIT\0')) return 'pass'
        breaks = false
        return 'break'
      },
    })
    const config = loadConfig(serviceConfig, { DATABASE_URL: url, NATS_URL: 'nats://unused' })
    const db = await connectDatabase('payments', config, { vault: noVault })
    t.teardown(() => db.close())
    const { log } = bed.services.payments
    const { addUpHandler } = payments.compose({} as never, {} as never, {}).operations as never as {
      addUpHandler: { command: never }
    }
    const batcher = batchedAttempts(addUp, addUpHandler.command, { db, timers, log })
    const attempts = ['one', 'two'].map((record) => attemptOn(record, { scope: bed.scope() }))
    const run = () => Promise.allSettled(attempts.map((each) => batcher.add(each)))
    breaks = true
    const batches = adding.batches.length
    for (const lost of await run()) {
      t.equal(lost.status, 'rejected')
      t.ok(isPassingFault((lost as PromiseRejectedResult).reason), 'the caller is told to try again')
    }
    t.equal(adding.batches.length, batches + 1, 'it is not run again here: nobody knows whether it happened')
    t.match(await run(), [
      { value: { is: 'known', known: { reply: { body: { count: 1 } } } } },
      { value: { is: 'known', known: { reply: { body: { count: 1 } } } } },
    ])
    const { rows } = await bed.sql('payments').query("select count from record where id in ('one', 'two')")
    t.same(rows, [{ count: 1 }, { count: 1 }])
  },
)

const triesOf = (record: string) => adding.batches.filter((batch) => batch.includes(record))

t.test('records that somebody else has locked, however many, delay their own calls alone', async (t) => {
  const locked = records('locked', 16)
  await Promise.all(locked.map((record) => add({ record })))
  const letGo = await lock(locked)
  const calls = await gather(36, () =>
    [...locked, ...records('beside the locked', 20)].map((record) => add({ record })),
  )
  t.same(await Promise.all(calls.slice(16)), Array(20).fill({ count: 1 }))
  await letGo()
  const outcomes = await Promise.allSettled(calls.slice(0, 16))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 16)
})

t.test('a second attempt of a call that waits for its command waits too, and gets the same reply', async (t) => {
  const held = holdCredits()
  const operationId = newId('opn')
  const call = () => add({ record: 'commanding twice', sends: ['command'] }, operationId)
  const first = call()
  await eventually(() => held.asked() === 1)
  const second = call()
  // It does not know whether the process of the first one lives, so it asks again: receivers know what they did.
  await eventually(() => held.asked() === 2)
  held.release()
  t.same(await Promise.all([first, second]), [{ count: 1 }, { count: 1 }])
})

t.test('a call that was locked out goes alone when it is tried again, and holds up no batch', async (t) => {
  await add({ record: 'locked for long' })
  const letGo = await lock(['locked for long'])
  const operationId = newId('opn')
  const call = () => add({ record: 'locked for long' }, operationId)
  const first = refusal(call())
  await eventually(() => triesOf('locked for long').length >= 3)
  timers.advance(limitsMs.call)
  t.equal(await first, 'SERVICE_UNAVAILABLE')
  const before = triesOf('locked for long').length
  const [retry, ...others] = await gather(6, () => [
    call(),
    ...records('beside the retry', 5).map((record) => add({ record })),
  ])
  t.same(await Promise.all(others), Array(5).fill({ count: 1 }))
  await eventually(() => triesOf('locked for long').length > before)
  const tries = triesOf('locked for long').slice(before)
  t.ok(
    tries.every((batch) => batch.length === 1),
    'no other waits with it for the lock',
  )
  await letGo()
  t.same(await retry, { count: 2 })
})

t.test('a batch that takes one statement too long runs call by call', async (t) => {
  const names = records('too much together', 5)
  const calls = await gather(names.length, () => {
    adding.during = async (db) => {
      if (adding.batches.at(-1)?.length === 1) return
      await db`set local statement_timeout = 20`
      await db`select pg_sleep(30)`
    }
    return names.map((record) => add({ record }))
  })
  t.same(await Promise.all(calls), Array(5).fill({ count: 1 }))
  adding.during = async () => {}
})

t.test('lists of the team, however slow, keep no request of an operator waiting', async (t) => {
  await add({ record: 'read' })
  const trail = await holdOpen(bed.sql('admin'), 'lock table payments.audit_entry in access exclusive mode')
  const lists = Array.from({ length: 6 }, () =>
    refusal(bed.team('alice').call(operations.payments.listAudit, { input: { limit: 10 } })),
  )
  await trail.isAwaited({ count: 2 })
  t.same(await bed.rpc.call(readRecord, { scope, input: { record: 'read' } }), { count: 1 })
  await trail.rollback()
  t.ok((await Promise.all(lists)).includes(null))
})
