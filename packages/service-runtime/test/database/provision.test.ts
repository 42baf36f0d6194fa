import { roleName, serviceNames } from '@backoffice/contracts'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { migrate } from '../../src/database/migrate.ts'
import { provisionDatabase } from '../../src/database/provision.ts'
import { payments, wallet } from '../probe-services.ts'

const bed = await testBed(t, { payments, wallet })

t.test("a service's role reads and writes its own schema and no other's", async (t) => {
  for (const [own, other] of [
    ['payments', 'wallet'],
    ['wallet', 'payments'],
  ] as const) {
    const as = bed.sql(own)
    t.equal((await as.query('select from operation')).rowCount, 0)
    await t.rejects(as.query(`select from ${other}.operation`), /permission denied for schema/)
    await t.rejects(as.query(`insert into ${other}.outbox default values`), /permission denied for schema/)
    await t.rejects(as.query('create table mine (id int)'), /permission denied/)
    await t.rejects(as.query('create table public.mine (id int)'), /permission denied/)
    await t.rejects(as.query('drop table operation'), /must be owner/)
    await t.rejects(as.query(`set role ${roleName(other)}`), /permission denied/)
  }
})

t.test('no role of a service is a superuser, or may create roles and databases', async (t) => {
  const { rows } = await bed
    .sql('admin')
    .query(
      `select rolname from pg_roles where rolname = any($1) and (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls)`,
      [serviceNames.map(roleName)],
    )
  t.same(rows, [])
})

t.test('migrating again changes nothing', async (t) => {
  t.same(await migrate({ service: 'payments', migrations: payments.migrations, url: bed.databaseUrl }), [])
})

t.test('provisioning again, or twice at once, changes nothing', async (t) => {
  const adminUrl = bed.databaseUrl
  await t.resolves(Promise.all([1, 2].map(() => provisionDatabase({ adminUrl, passwords: {} }))))
})
