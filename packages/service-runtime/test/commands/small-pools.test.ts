import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { addUp, payments, readRecord } from '../probe-services.ts'

for (const connections of [1, 2])
  t.test(`with a pool of ${connections}, locked records delay no call on another`, async (t) => {
    const bed = await testBed(t, { payments }, { config: { payments: { DATABASE_POOL_MAX: connections } } })
    const scope = bed.scope()
    const add = (record: string) => bed.rpc.call(addUp, { scope, input: { record, by: 1 }, operationId: newId('opn') })
    const locked = ['locked 1', 'locked 2', 'locked 3']
    await Promise.all(locked.map(add))
    const holder = await bed.sql('admin').connect()
    await holder.query('begin')
    await holder.query('select from payments.record where id = any($1) for update', [locked])
    const waiting = locked.map((record) => refusal(add(record)))

    // A call waits at most three seconds for a connection: then it is refused.
    const others = []
    for (let round = 0; round < 3; round++)
      others.push(...(await Promise.all(['a', 'b', 'c', 'd'].map((record) => refusal(add(record))))))
    t.same(others, Array(12).fill(null))
    await holder.query('rollback')
    holder.release()
    t.same(await Promise.all(waiting), Array(3).fill(null))
  })

t.test('lists of the team, however slow, keep no request of an operator waiting', async (t) => {
  const bed = await testBed(t, { payments })
  const scope = bed.scope()
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
