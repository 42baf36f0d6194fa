import { operations } from '@backoffice/contracts'
import { defineService, handle } from '@backoffice/service-runtime'
import { brandTable, runtimeMigrations } from '@backoffice/service-runtime/migrations'
import type { ServiceConfig } from '@backoffice/service-runtime/testing'
import { teamDesk } from '@backoffice/team-desk'
import { teamTables } from '@backoffice/team-desk/migrations'
import t from 'tap'
import { testBed } from '../src/index.ts'

let settings: ServiceConfig | undefined
let timesAnswered = 0
/** A service of one answer, which tells what it was started with. */
const payments = defineService({
  name: 'payments',
  settings: {},
  plugins: [teamDesk()],
  migrations: [...runtimeMigrations('payments', teamTables), { name: '0001_brand', sql: brandTable('payments') }],
  compose(_context, given, outside: { total?: string }) {
    settings = given
    const readDayDeposits = handle(operations.payments.readDayDeposits, async () => {
      timesAnswered++
      return { total: outside.total ?? '1.00' }
    })
    return { operations: { readDayDeposits } as never, addresses: () => ({ answered: () => timesAnswered }) }
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
  t.same(await bed.team('bob').call(listing, { input: { limit: 10 } }), { data: [], nextCursor: null })
  await t.rejects(bed.rpc.call(listing, { input: { limit: 10 } }), /bed\.team/)
})

t.test('configuration of a service is set as environment variables', async (t) => {
  await testBed(t, { payments }, { config: { payments: { DATABASE_POOL_MAX: 1 } } })
  t.equal(settings?.DATABASE_POOL_MAX, 1)
})

t.test('the outside world is what the test puts in its place, and addresses are those of the service', async (t) => {
  const other = await testBed(t, { payments }, { outside: { payments: { total: '2.00' } } })
  const before = timesAnswered
  const scope = other.scope()
  t.same(await other.rpc.call(operations.payments.readDayDeposits, { scope, input: { playerId: 'ply_1' } }), {
    total: '2.00',
  })
  t.equal(other.services.payments.addresses.answered(), before + 1)
})
