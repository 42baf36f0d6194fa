import { operations } from '@backoffice/contracts'
import { held, refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { callsOn } from '../probe-calls.ts'
import { payments, readRecord } from '../probe-services.ts'

t.test('with a pool of one connection, locked records delay no call on another', async (t) => {
  const bed = await testBed(t, { payments }, { config: { payments: { DATABASE_POOL_MAX: 1 } } })
  const { add, lock } = callsOn(bed)
  const locked = ['locked 1', 'locked 2', 'locked 3']
  await Promise.all(locked.map((record) => add({ record })))
  const letGo = await lock(locked)
  const waiting = locked.map((record) => refusal(add({ record })))

  // A call waits at most three seconds for a connection: then it is refused.
  const others = []
  for (let round = 0; round < 3; round++)
    others.push(...(await Promise.all(['a', 'b', 'c', 'd'].map((record) => refusal(add({ record }))))))
  t.same(others, Array(12).fill(null))
  await letGo()
  t.same(await Promise.all(waiting), Array(3).fill(null))
})

t.test('lists of the team, however slow, keep no request of an operator waiting', async (t) => {
  const bed = await testBed(t, { payments })
  const { scope, add } = callsOn(bed)
  await add({ record: 'read' })
  const trail = await held(bed.sql('admin'), 'lock table payments.audit_entry in access exclusive mode')
  const lists = Array.from({ length: 6 }, () =>
    refusal(bed.team('alice').call(operations.payments.listAudit, { input: { limit: 10 } })),
  )
  await trail.isAwaited({ count: 2 })
  t.same(await bed.rpc.call(readRecord, { scope, input: { record: 'read' } }), { count: 1 })
  await trail.rollback()
  t.ok((await Promise.all(lists)).includes(null))
})
