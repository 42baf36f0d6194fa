import { type DatabaseRole, databaseRoles, roleName, serviceNames } from '@backoffice/contracts'
import { roleUrl, sharedRolePasswords, withOtherRoles } from '@backoffice/local-stack'
import { limitsMs } from '@backoffice/process'
import { readerOf } from '@backoffice/service-runtime'
import { testBed } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { payments, wallet } from '../../../packages/service-runtime/test/probe-services.ts'
import { provisionDatabase } from '../src/provision.ts'

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
      [serviceNames.map(roleName).flatMap((role) => [role, readerOf(role)])],
    )
  t.same(rows, [])
})

const passwords = withOtherRoles(sharedRolePasswords(bed.databaseUrl))

/** What a session of a role begins with, when it asks for nothing. */
async function sessionOf(role: DatabaseRole, { reads = false, options = '', database = '' } = {}) {
  const url = new URL(roleUrl(bed.databaseUrl, role, passwords[role]))
  if (database !== '') url.pathname = `/${database}`
  if (reads) url.username = readerOf(url.username)
  const client = new pg.Client({ connectionString: url.href, ...(options === '' ? {} : { options }) })
  await client.connect()
  t.teardown(() => client.end())
  return client
}
const show = async (client: pg.Client, name: string) =>
  (await client.query('select setting as value from pg_settings where lower(name) = $1', [name])).rows[0].value

/** Roles are the whole server's: a file beside this one may have given them another patience, which is a power of two too. */
const isLimit = (shown: string, ms: number) => Number.isInteger(Math.log2(Number(shown) / ms))

t.test('sessions begin with the settings of their role, and may ask for others', async (t) => {
  for (const [role, schema] of [...serviceNames.map((name) => [name, name] as const), ['games', 'players'] as const]) {
    const session = await sessionOf(role)
    t.equal(await show(session, 'search_path'), schema, role)
    t.ok(isLimit(await show(session, 'statement_timeout'), limitsMs.statement))
    t.ok(isLimit(await show(session, 'idle_in_transaction_session_timeout'), limitsMs.idleTransaction))
    t.equal(await show(session, 'timezone'), 'UTC')
    t.equal(await show(session, 'default_transaction_read_only'), 'off')
  }
  const asking = await sessionOf('payments', { options: '-c search_path=public -c default_transaction_read_only=on' })
  t.equal(await show(asking, 'search_path'), 'public')
  t.equal(await show(asking, 'default_transaction_read_only'), 'on')
})

t.test('the role for reading reads what the service may read, and writes nothing', async (t) => {
  const reader = await sessionOf('payments', { reads: true })
  t.equal((await reader.query('select from operation')).rowCount, 0)
  await t.rejects(reader.query("insert into record values ('a', 1)"), { code: '25006' })
  await t.rejects(reader.query('select from wallet.operation'), /permission denied for schema/)
})

t.test('no role stores anything beside its tables, or holds up the next migration', async (t) => {
  // A copy of a database has the rights of all.
  await provisionDatabase({ adminUrl: bed.databaseUrl, passwords })
  const readers = serviceNames.map((role) => [role, true] as const)
  for (const [role, reads] of [...databaseRoles.map((name) => [name, false] as const), ...readers]) {
    const session = await sessionOf(role, { reads })
    await session.query('set default_transaction_read_only = off')
    for (const statement of [
      'create temporary table large (id int)',
      ...['lo_create(0)', "lo_from_bytea(0, '')", "lo_put(1, 0, '')", 'lo_unlink(1)', 'lo_open(1, 131072)'].map(
        (call) => `select ${call}`,
      ),
    ])
      await t.rejects(session.query(statement), { code: '42501' }, `${role}: ${statement}`)
    for (const database of ['postgres', 'template1'])
      await t.rejects(sessionOf(role, { reads, database }), { code: '42501' }, `${role} into ${database}`)
  }
})

t.test('provisioning again, or several times at once, changes nothing', async (t) => {
  const adminUrl = bed.databaseUrl
  await t.resolves(Promise.all(Array.from({ length: 16 }, () => provisionDatabase({ adminUrl, passwords: {} }))))
})

t.test('whoever holds the lock of provisioning ends it with an error, and not with silence', async (t) => {
  const cluster = new URL(bed.databaseUrl)
  cluster.pathname = '/postgres'
  const holder = new pg.Client({ connectionString: cluster.href })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('select pg_advisory_lock(7411904)')
  const waiting = provisionDatabase({ adminUrl: bed.databaseUrl, passwords: {}, lockWaitMs: 200 })
  await t.rejects(waiting, { code: '55P03' })
})
