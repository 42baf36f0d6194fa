import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { payments } from '../probe-services.ts'

const bed = await testBed(t, { payments }, { config: { payments: { DATABASE_POOL_MAX: 1 } } })
const { db } = bed.services.payments

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
  await eventually(async () => {
    const waiting = `select from pg_stat_activity where usename = 'backoffice_payments' and wait_event_type = 'Lock'
      and datname = current_database()`
    return (await bed.sql('admin').query(waiting)).rowCount === 1
  })
  await other.query("update payments.record set count = count + 10 where id = 'a'; commit")
  other.release()
  await both
  t.same(await db`select count from record order by id`, [{ count: 12 }, { count: 12 }])
})

t.test('a statement of its own runs again when a migration has changed what it reads', async (t) => {
  const admin = bed.sql('admin')
  await admin.query('create table payments.changed (total integer); insert into payments.changed values (7)')
  const reads = [() => db<{ total: unknown }>`select total from changed`, () => db.reader`select total from changed`]
  for (const read of reads) t.same(await read(), [{ total: 7 }])
  await admin.query('alter table payments.changed alter column total type bigint')
  for (const read of reads) t.same(await read(), [{ total: 7n }])
})
