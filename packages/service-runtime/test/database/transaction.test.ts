import { sqlState } from '@backoffice/database'
import { createLogger } from '@backoffice/process'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import type { Db } from '../../src/index.ts'
import { callsOn } from '../probe-calls.ts'
import { RecordEntity } from '../probe-entities.ts'
import { payments } from '../probe-services.ts'

const bed = await testBed(t, { payments }, { config: { payments: { DATABASE_POOL_MAX: 1 } } })
const { db } = bed.services.payments
const { lock, lockIsAwaited } = callsOn(bed)

const insert = (over: Db, id: string) => over`insert into record (id, count) values (${id}, 1)`
async function exists(id: string): Promise<boolean> {
  return (await bed.sql('payments').query('select from record where id = $1', [id])).rowCount === 1
}

t.test('statements that are sent without waiting for each other run in order, in one transaction', async (t) => {
  const seen = await db.transaction(async (tx) => {
    const [, found] = await Promise.all([
      insert(tx, 'piped'),
      tx<{ count: number }>`select count from record where id = 'piped'`,
    ])
    return found
  })
  t.same(seen, [{ count: 1 }])
})

t.test('a failed statement that was swallowed is an error of the transaction, not a success', async (t) => {
  const failed = db.transaction(async (tx) => {
    await insert(tx, 'swallowed')
    await insert(tx, 'swallowed').catch(() => {})
    return 'fine'
  })
  await t.rejects(failed, { message: /rolled back/, cause: { code: '23505' } })
  t.notOk(await exists('swallowed'))
  t.same(await db`select 1 as one`, [{ one: 1 }], 'and its connection is as good as before')
})

t.test(
  'a statement that comes after the end is refused, and does not reach the next user of the connection',
  async (t) => {
    let left: Db | undefined
    await db.transaction(async (tx) => {
      left = tx
      await insert(tx, 'ended')
    })
    const next = db.transaction(async (tx) => {
      await insert(tx, 'next')
      await t.rejects(insert(left as Db, 'too late'), /transaction has ended/)
      await t.rejects(
        (left as Db).em().then((em) => em.execute("insert into record values ('too late', 1)")),
        /transaction has ended/,
      )
    })
    await next
    t.ok(await exists('next'))
    t.notOk(await exists('too late'))
  },
)

t.test('of statements that travel together the first fault is told, however late it is heard of', async (t) => {
  await insert(db, 'twice')
  const heardLate = async (failing: Promise<unknown>) => {
    try {
      await failing
    } catch (error) {
      for (let turn = 0; turn < 20; turn++) await null
      throw error
    }
  }
  const failed = db.transaction((tx) => Promise.all([heardLate(insert(tx, 'twice')), tx`select 1`, tx`select 2`]))
  t.equal(sqlState(await failed.catch((error) => error)), '23505')
})

t.test('what one of several left on its way does not outlive the failed transaction', async (t) => {
  const { promise: gate, resolve: goOn } = Promise.withResolvers<void>()
  let straggler: Promise<unknown> | undefined
  const failed = db.transaction((tx) => {
    straggler = gate.then(() => insert(tx, 'straggler'))
    return Promise.all([tx`select 1 / 0`, straggler])
  })
  await t.rejects(failed, /division by zero/)
  goOn()
  await t.rejects(straggler as Promise<unknown>, /transaction has ended/)
  t.notOk(await exists('straggler'))
})

t.test('a transaction that could not begin writes nothing', async (t) => {
  // A statement that PostgreSQL cannot read, in place of a number: nothing of it is carried out, BEGIN neither.
  const unreadable = ')' as unknown as number
  for (const readsFirst of [true, false]) {
    const failed = db.transaction(
      async (tx) => {
        await tx`select 1 as one`.catch(() => {})
        await insert(tx, 'without-begin')
      },
      { lockTimeoutMs: unreadable, readsFirst },
    )
    await t.rejects(failed, /syntax/, `readsFirst: ${readsFirst}`)
    t.notOk(await exists('without-begin'))
  }
})

t.test('COMMIT that travels with the last statements is a rollback where one of them fails', async (t) => {
  await insert(db, 'there')
  const beside = (name: string, other: (tx: Db) => Promise<unknown>) =>
    db.transaction((tx) => tx.commitWith(() => Promise.all([insert(tx, name), other(tx)])))
  await t.rejects(
    beside('beside', (tx) => insert(tx, 'there')),
    { code: '23505' },
  )
  t.notOk(await exists('beside'))
  const faulty = async () => {
    throw new Error('a bug')
  }
  await t.rejects(beside('beside', faulty), /a bug/, 'what throws before it sends anything')
  t.notOk(await exists('beside'))
  const atOnce = db.transaction((tx) =>
    tx.commitWith(() => {
      void insert(tx, 'beside').catch(() => {})
      throw new Error('a bug')
    }),
  )
  await t.rejects(atOnce, /a bug/)
  t.notOk(await exists('beside'))
  const circular: { self?: unknown } = {}
  circular.self = circular
  const unsendable = (tx: Db) => tx`update record set id = ${circular} where id = ''`
  await t.rejects(beside('beside', unsendable), /circular/, 'the driver does not send it')
  t.notOk(await exists('beside'))
  await beside('beside', (tx) => tx`select 1`)
  t.ok(await exists('beside'))
})

t.test('nothing is sent after COMMIT, which may leave the disk to a later one', async (t) => {
  const late = db.transaction(async (tx) => {
    await tx.commitWith(() => insert(tx, 'committed'), false)
    await insert(tx, 'too late')
  })
  await t.rejects(late, /transaction has ended/)
  t.ok(await exists('committed'))
  t.notOk(await exists('too late'))
})

t.test('entities that were changed are written before the commit', async (t) => {
  await insert(db, 'edited')
  await db.transaction(async (tx) => {
    const record = await (await tx.em()).findOneOrFail(RecordEntity, 'edited')
    record.count = 5
  })
  t.same(await db`select count from record where id = 'edited'`, [{ count: 5 }])
})

t.test('outside of a transaction each use of entities begins with what the database holds now', async (t) => {
  await insert(db, 'reread')
  t.equal((await (await db.em()).findOneOrFail(RecordEntity, 'reread')).count, 1)
  await bed.sql('payments').query("update record set count = 2 where id = 'reread'")
  t.equal((await (await db.em()).findOneOrFail(RecordEntity, 'reread')).count, 2)
})

t.test('a transaction that PostgreSQL ends as a deadlock runs again, as a whole', async (t) => {
  const other = await bed.start('payments')
  await insert(db, 'one')
  await insert(db, 'two')
  let holding = 0
  let runs = 0
  const { promise: bothHold, resolve: goOn } = Promise.withResolvers<void>()
  const countBoth = (over: typeof db, first: string, second: string) =>
    over.transaction(async (tx) => {
      runs++
      await tx`update record set count = count + 1 where id = ${first}`
      if (++holding === 2) goOn()
      await bothHold
      await tx`update record set count = count + 1 where id = ${second}`
    })
  await Promise.all([countBoth(db, 'one', 'two'), countBoth(other.db, 'two', 'one')])
  // On a slow machine each of the two may be ended.
  t.ok(runs >= 3)
  t.same(await db`select count from record where id in ('one', 'two')`, [{ count: 3 }, { count: 3 }])
})

t.test('a lock that somebody else holds is waited for as long as the transaction says', async (t) => {
  await insert(db, 'locked')
  const letGo = await lock(['locked'])
  const locking = db.transaction((tx) => tx`select from record where id = 'locked' for update`, { lockTimeoutMs: 100 })
  const error = await locking.catch((error) => error)
  t.equal(sqlState(error), '55P03')
  await letGo()
  t.same(await db`show lock_timeout`, [{ lockTimeout: '0' }], 'it holds for that transaction alone')
})

t.test('a migration that changes the type of a column stops no process that runs', async (t) => {
  type Total = { readonly total: unknown }
  const reads = [
    () => db.transaction((tx) => tx<Total>`select total from migrated`),
    () => db<Total>`select total from migrated`,
    () => db.reader<Total>`select total from migrated`,
  ]
  const admin = bed.sql('admin')
  await admin.query('create table payments.migrated (total integer); insert into payments.migrated values (7)')
  for (const read of reads) t.same(await read(), [{ total: 7 }])
  await admin.query('alter table payments.migrated alter column total type bigint')
  for (const read of reads) t.same(await read(), [{ total: 7n }])
})

t.test('a statement of its own that PostgreSQL ends as a deadlock runs again', async (t) => {
  await db`insert into record (id, count) values ('a', 1), ('b', 1)`
  const other = await bed.sql('admin').connect()
  // The other waits longer before it looks for a deadlock, so the statement is the one that is ended.
  await other.query("begin; set local deadlock_timeout = '20s'")
  await other.query("update payments.record set count = count + 10 where id = 'b'")
  const both = db`
    with ordered as (select id from record where id in ('a', 'b') order by id for update)
    update record set count = count + 1 from ordered where record.id = ordered.id
  `
  await lockIsAwaited()
  await other.query("update payments.record set count = count + 10 where id = 'a'; commit")
  other.release()
  await both
  t.same(await db`select count from record where id in ('a', 'b') order by id`, [{ count: 12 }, { count: 12 }])
})

t.test("an error of the database says which rule was broken, never the row's values", async (t) => {
  const lines: string[] = []
  const log = createLogger('probe', 'info', { write: (line: string) => lines.push(line) })
  const insert = () => db`insert into record (id, count) values ('52998224725', 1)`
  await insert()
  await insert().catch((error) => log.error({ err: error }, 'failed'))
  const byEntity = "insert into record (id, count) values ('52998224725', 1)"
  await (await db.em()).execute(byEntity).catch((error) => log.error({ err: error }, 'failed'))
  await bed
    .sql('payments')
    .query("select '52998224725x'::bigint")
    .catch((error) => log.error({ err: error }, 'failed'))
  t.equal(lines.length, 3)
  for (const line of lines.slice(0, 2)) t.match(JSON.parse(line), { err: { code: '23505', constraint: 'record_pkey' } })
  t.match(JSON.parse(lines[2] ?? ''), { err: { code: '22P02' } })
  for (const line of lines) t.notMatch(line, /52998224725/)
})
