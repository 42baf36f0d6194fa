import { operations } from '@backoffice/contracts'
import { limitsMs, newId } from '@backoffice/process'
import { eventually, held, refusal, TestTimers, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { callsOn, holdCredits, records } from '../probe-calls.ts'
import { adding, payments, readRecord, wallet } from '../probe-services.ts'

const timers = new TestTimers()
const bed = await testBed(t, { payments, wallet }, { timers })
const { scope, add, gather, lock } = callsOn(bed)
const triesOf = (record: string) => adding.batches.filter((batch) => batch.includes(record))
const addAll = (names: readonly string[]) => gather(names.length, () => names.map((record) => add({ record })))

t.test('records that somebody else has locked, however many, delay their own calls alone', async (t) => {
  const locked = records('locked', 16)
  await Promise.all(locked.map((record) => add({ record })))
  const letGo = await lock(locked)
  const calls = await addAll([...locked, ...records('beside the locked', 20)])
  t.same(await Promise.all(calls.slice(16)), Array(20).fill({ count: 1 }))
  await letGo()
  const outcomes = await Promise.allSettled(calls.slice(0, 16))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 16)
})

t.test('a second attempt of a call that is locked out waits for the first, and gets its reply', async (t) => {
  await add({ record: 'attempted twice' })
  const letGo = await lock(['attempted twice'])
  const operationId = newId('opn')
  const call = () => add({ record: 'attempted twice' }, operationId)
  const first = call()
  await eventually(() => triesOf('attempted twice').length >= 3)
  const second = call()
  await add({ record: 'beside both attempts' })
  await letGo()
  t.same(await Promise.all([first, second]), [{ count: 2 }, { count: 2 }])
})

t.test('a second attempt of a call that waits for its command waits too, and gets the same reply', async (t) => {
  const held = holdCredits()
  const operationId = newId('opn')
  const call = () => add({ record: 'commanding twice', sends: ['command'] }, operationId)
  const first = call()
  await eventually(() => held.asked() === 1)
  const second = call()
  // It does not know whether the process of the first one lives, so it asks again: receivers know what they did.
  await eventually(() => held.asked() === 2)
  held.release()
  t.same(await Promise.all([first, second]), [{ count: 1 }, { count: 1 }])
})

t.test('a call that was locked out goes alone when it is tried again, and holds up no batch', async (t) => {
  await add({ record: 'locked for long' })
  const letGo = await lock(['locked for long'])
  const operationId = newId('opn')
  const call = () => add({ record: 'locked for long' }, operationId)
  const first = refusal(call())
  await eventually(() => triesOf('locked for long').length >= 3)
  timers.advance(limitsMs.call)
  t.equal(await first, 'SERVICE_UNAVAILABLE')
  const before = triesOf('locked for long').length
  const [retry, ...others] = await gather(6, () => [
    call(),
    ...records('beside the retry', 5).map((record) => add({ record })),
  ])
  t.same(await Promise.all(others), Array(5).fill({ count: 1 }))
  await eventually(() => triesOf('locked for long').length > before)
  const tries = triesOf('locked for long').slice(before)
  t.ok(
    tries.every((batch) => batch.length === 1),
    'no other waits with it for the lock',
  )
  await letGo()
  t.same(await retry, { count: 2 })
})

t.test('what failed a batch fails no other: it goes alone from then on, until it succeeds', async (t) => {
  await add({ record: 'poison', by: 3 })
  const operationId = newId('opn')
  const poison = () => refusal(add({ record: 'poison', by: -5 }, operationId))
  t.equal(await poison(), 'INTERNAL_ERROR')
  const before = adding.batches.length
  const [retry, ...others] = await gather(11, () => [
    poison(),
    ...records('beside poison', 10).map((record) => add({ record })),
  ])
  t.equal(await retry, 'INTERNAL_ERROR')
  t.same(await Promise.all(others), Array(10).fill({ count: 1 }))
  t.same(
    adding.batches.slice(before + 1).map((batch) => batch.length),
    [1, 10],
    'its neighbours are not rolled back',
  )

  t.same(await add({ record: 'poison', by: 5 }), { count: 8 })
  t.same(await Promise.all(await addAll(['poison', 'beside the cured'])), [{ count: 9 }, { count: 1 }])
  t.same(adding.batches.at(-1), ['poison', 'beside the cured'])
})

t.test('a batch that takes one statement too long runs call by call', async (t) => {
  const names = records('too much together', 5)
  const calls = await gather(names.length, () => {
    adding.during = async (db) => {
      if (adding.batches.at(-1)?.length === 1) return
      await db`set local statement_timeout = 20`
      await db`select pg_sleep(30)`
    }
    return names.map((record) => add({ record }))
  })
  t.same(await Promise.all(calls), Array(5).fill({ count: 1 }))
  adding.during = async () => {}
})

t.test('lists of the team, however slow, keep no request of an operator waiting', async (t) => {
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
