import { operations } from '@backoffice/contracts'
import { defineService, handle, runtimeMigrations } from '@backoffice/service-runtime'
import t from 'tap'
import { testBed } from '../src/index.ts'

let settingsSeen: { readonly DATABASE_POOL_MAX: number } | undefined
const readDayDeposits = handle(operations.payments.readDayDeposits, async () => ({ total: '1.00' }))

/** A service of one operation, on the runtime's own tables. */
const payments = defineService({
  name: 'payments',
  settings: {},
  migrations: runtimeMigrations('payments'),
  compose(_, settings) {
    settingsSeen = settings
    return { operations: { readDayDeposits } as never }
  },
})

const bed = await testBed(t, { payments })

t.test('a service answers through the broker', async (t) => {
  const input = { playerId: 'ply_1' }
  t.same(await bed.rpc.call(operations.payments.readDayDeposits, { scope: bed.scope(), input }), { total: '1.00' })
})

t.test('SQL runs with the rights of a role, or as the superuser', async (t) => {
  const who = await bed.sql('payments').query('select current_user as role, current_schema() as schema')
  t.same(who.rows, [{ role: 'backoffice_payments', schema: 'payments' }])
  await t.rejects(bed.sql('wallet').query('select from payments.operation'), /permission denied/)
  t.equal((await bed.sql('admin').query('select from payments.operation')).rowCount, 0)
})

t.test('two beds share nothing', async (t) => {
  const other = await testBed(t, { payments })
  t.not(other.databaseUrl, bed.databaseUrl)
  t.not(other.natsUrl, bed.natsUrl)
})

t.test('an operation of the team is called by a person of it', async (t) => {
  const listing = operations.payments.listAudit
  t.same(await bed.team('bob').call(listing, { input: { limit: 10 } }), { data: [] })
  await t.rejects(bed.rpc.call(listing, { input: { limit: 10 } }), /bed\.team/)
})

t.test('configuration of a service is set as environment variables', async (t) => {
  const config = { payments: { DATABASE_POOL_MAX: 1 } }
  await testBed(t, { payments }, { config })
  t.equal(settingsSeen?.DATABASE_POOL_MAX, 1)
})

t.test('a bed whose services are processes of their own has all that they need, and starts none', async (t) => {
  settingsSeen = undefined
  const idle = await testBed(t, { payments }, { startServices: false })
  t.same([idle.services, settingsSeen], [{}, undefined])
  t.equal((await idle.sql('payments').query('select from operation')).rowCount, 0, 'the tables are there')
  await idle.start('payments')
  t.ok(settingsSeen)
})
