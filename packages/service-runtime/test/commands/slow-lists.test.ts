import { operations } from '@backoffice/contracts'
import { eventually, refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { addUp, payments, readRecord } from '../probe-services.ts'

const bed = await testBed(t, { payments })
const scope = bed.scope()

t.test('lists of the team, however slow, keep no request of an operator waiting', async (t) => {
  await bed.rpc.call(addUp, { scope, input: { record: 'read', by: 1 } })
  const holder = await bed.sql('admin').connect()
  await holder.query('begin; lock table payments.audit_entry in access exclusive mode')
  const lists = Array.from({ length: 6 }, () =>
    refusal(bed.team('alice').call(operations.payments.listAudit, { input: { limit: 10 } })),
  )
  await eventually(async () => {
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await bed.sql('admin').query(waiting)).rowCount === 2
  })
  t.same(await bed.rpc.call(readRecord, { scope, input: { record: 'read' } }), { count: 1 })
  await holder.query('rollback')
  holder.release()
  t.ok((await Promise.all(lists)).includes(null))
})
