import { newId } from '@backoffice/process'
import { eventually, refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { adding, addUp, crediting, payments, wallet } from '../probe-services.ts'

const bed = await testBed(t, { payments, wallet })
const scope = bed.scope()

const add = (record: string, { by = 1, operationId = newId('opn') } = {}) =>
  bed.rpc.call(addUp, { scope, input: { record, by }, operationId })
const records = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name} ${index}`)

let opened = 0
/** Holds a batch open until so many more calls wait: they form the next one. */
async function gather<T>(count: number, call: () => Promise<T>[]): Promise<Promise<T>[]> {
  const until = adding.prepared + 1 + count
  adding.during = async () => {
    adding.during = async () => {}
    await eventually(() => adding.prepared >= until)
  }
  const before = adding.batches.length
  const opener = add(`opener ${opened++}`)
  await eventually(() => adding.batches.length > before)
  const calls = call()
  for (const called of calls) called.catch(() => {})
  await opener
  return calls
}
const addAll = (names: readonly string[]) => gather(names.length, () => names.map((name) => add(name)))

/** Locks records as a process does that hangs in the middle of a batch. */
async function lock(names: readonly string[]): Promise<{ release(): Promise<void> }> {
  const holder = await bed.sql('admin').connect()
  await holder.query('begin')
  await holder.query('select from payments.record where id = any($1) for update', [names])
  return {
    async release() {
      await holder.query('rollback')
      holder.release()
    },
  }
}

t.test('records that somebody else has locked, however many, delay their own calls alone', async (t) => {
  const locked = records('locked', 16)
  await Promise.all(locked.map((record) => add(record)))
  const holder = await lock(locked)
  const started = performance.now()
  const calls = await addAll([...locked, ...records('beside the locked', 20)])
  t.same(await Promise.all(calls.slice(16)), Array(20).fill({ count: 1 }))
  t.ok(performance.now() - started < 4_000, `${performance.now() - started} ms`)
  await holder.release()
  const outcomes = await Promise.allSettled(calls.slice(0, 16))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 16)
})

t.test('a second attempt of a call that is locked out waits for the first, and gets its reply', async (t) => {
  await add('attempted twice')
  const holder = await lock(['attempted twice'])
  const operationId = newId('opn')
  const call = () => add('attempted twice', { operationId })
  const first = call()
  await eventually(() => adding.batches.filter(([record]) => record === 'attempted twice').length >= 3)
  const second = call()
  await add('beside both attempts')
  await holder.release()
  t.same(await Promise.all([first, second]), [{ count: 2 }, { count: 2 }])
})

t.test('a second attempt of a call that waits for its command waits too, and gets the same reply', async (t) => {
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  let asked = 0
  crediting.during = async () => {
    asked++
    await gate
  }
  const input = { record: 'commanding twice', by: 1, sends: ['command' as const] }
  const operationId = newId('opn')
  const call = () => bed.rpc.call(addUp, { scope, input, operationId })
  const first = call()
  await eventually(() => asked === 1)
  const second = call()
  // It does not know whether the process of the first one lives, so it asks again: receivers know what they did.
  await eventually(() => asked === 2)
  release()
  t.same(await Promise.all([first, second]), [{ count: 1 }, { count: 1 }])
  crediting.during = async () => {}
})

t.test('a call that was locked out goes alone when it is tried again, and holds up no batch', async (t) => {
  await add('locked for long')
  const holder = await lock(['locked for long'])
  const operationId = newId('opn')
  const call = () => add('locked for long', { operationId })
  t.equal(await refusal(call()), 'SERVICE_UNAVAILABLE')
  const started = performance.now()
  const [retry, ...others] = await gather(6, () => [call(), ...records('beside the retry', 5).map((name) => add(name))])
  t.same(await Promise.all(others), Array(5).fill({ count: 1 }))
  t.ok(performance.now() - started < 900, `${performance.now() - started} ms`)
  await holder.release()
  t.same(await retry, { count: 2 })
})

t.test('what failed a batch fails no other: it goes alone from then on, until it succeeds', async (t) => {
  await add('poison', { by: 3 })
  const operationId = newId('opn')
  const poison = () => refusal(add('poison', { by: -5, operationId }))
  t.equal(await poison(), 'INTERNAL_ERROR')
  const before = adding.batches.length
  const [retry, ...others] = await gather<unknown>(11, () => [
    poison(),
    ...records('beside poison', 10).map((name) => add(name)),
  ])
  t.equal(await retry, 'INTERNAL_ERROR')
  t.same(await Promise.all(others), Array(10).fill({ count: 1 }))
  t.same(
    adding.batches.slice(before + 1).map((batch) => batch.length),
    [1, 10],
    'its neighbours are not rolled back',
  )

  t.same(await add('poison', { by: 5 }), { count: 8 })
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
    return names.map((name) => add(name))
  })
  t.same(await Promise.all(calls), Array(5).fill({ count: 1 }))
  adding.during = async () => {}
})
