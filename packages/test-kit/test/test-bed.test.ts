import { operations } from '@backoffice/contracts'
import { query, type ServiceConfig, startService } from '@backoffice/service-runtime'
import t from 'tap'
import { testBed } from '../src/index.ts'

/** A service of one answer, on the migrations of the real one. */
const payments = {
  start: (config: ServiceConfig) =>
    startService({
      name: 'payments',
      config,
      entities: [],
      operations: () =>
        ({ readDayDeposits: query(operations.payments.readDayDeposits, async () => ({ total: '1.00' })) }) as never,
    }),
}

t.test('a service answers through the broker, with its own permissions and role', async (t) => {
  const bed = await testBed(t, { payments })
  const reply = await bed.rpc.call(operations.payments.readDayDeposits, {
    scope: bed.scope(),
    input: { playerId: 'ply_1' },
  })
  t.same(reply, { total: '1.00' })
  const who = await bed.sql('payments').query('select current_user as role, current_schema() as schema')
  t.same(who.rows, [{ role: 'backoffice_payments', schema: 'payments' }])
})
