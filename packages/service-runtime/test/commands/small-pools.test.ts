import { newId } from '@backoffice/process'
import { refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { addUp, payments } from '../probe-services.ts'

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
