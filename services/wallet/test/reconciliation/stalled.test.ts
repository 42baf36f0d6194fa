import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { migrate, newId } from '@backoffice/service-runtime/internal'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { Reconciler } from '../../src/reconciliation/reconciler.ts'
import { wallet } from '../../src/service.ts'

const bed = await testBed(t, { wallet })
for (const { name: service, migrations } of [payments, players])
  await migrate({ service, migrations, url: bed.databaseUrl })
const { db, clock, log } = bed.services.wallet
t.setTimeout(120_000)

/** More than a machine with much else to do takes for a step, and less than the test may wait for. */
const stallMsMax = 8_000
const withinMs = 60_000

t.test('a run that comes to nothing fails, and the next one is not kept waiting', async (t) => {
  const url = bed.environment('wallet').RECONCILE_DATABASE_URL
  const reconciler = new Reconciler({ db, clock, log, url, stallMsMax })
  const holder = await bed.sql('admin').connect()
  await holder.query('begin; lock table wallet.entry in access exclusive mode')
  const [stuck, next] = [newId('opn'), newId('opn')]
  for (const id of [stuck, next]) await reconciler.begin({ id, startedBy: 'alice' })
  const run = await eventually(async () => {
    const found = await reconciler.find(stuck)
    return found.state === 'failed' && found
  }, withinMs)
  t.match(run.failure, /no progress/)
  await holder.query('rollback')
  holder.release()
  await eventually(async () => (await reconciler.find(next)).state === 'done', withinMs)
})
