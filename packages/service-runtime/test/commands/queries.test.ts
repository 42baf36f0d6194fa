import { eventually, refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { answerAnything, payments, reading, readRecord } from '../probe-services.ts'

const bed = await testBed(t, { payments }, { config: { payments: { DATABASE_POOL_MAX: 1 } } })
const scope = bed.scope()
const read = (record: string, fails = false) => bed.rpc.call(readRecord, { scope, input: { record, fails } })
await bed.sql('payments').query("insert into record select 'record ' || n, n from generate_series(1, 100) as n")

/** Holds queries open until so many more calls wait, which then share one. */
async function gather<T>(calls: () => readonly Promise<T>[]): Promise<T[]> {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  reading.during = () => held
  reading.batches.length = 0
  // As many as run at once.
  const openers = [read('record 1')]
  await eventually(() => reading.batches.length === 1)
  openers.push(read('record 1'))
  await eventually(() => reading.batches.length === 2)
  const called = calls()
  // Another connection's round trip later than theirs.
  await (await bed.nats('gateway')).flush()
  await bed.rpc.call(answerAnything, { scope, input: {} })
  reading.during = async () => {}
  release()
  await Promise.all(openers)
  return Promise.all(called)
}

t.test('reads that wait together share a query, and each gets its own reply', async (t) => {
  const numbers = Array.from({ length: 100 }, (_, index) => index + 1)
  const replies = await gather(() => numbers.map((n) => read(`record ${n}`)))
  t.same(
    replies,
    numbers.map((count) => ({ count })),
  )
  const sizes = reading.batches.slice(2).map(({ length }) => length)
  t.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    100,
  )
  t.ok(sizes.length <= 3, `${sizes}`)
})

t.test('what is not found is a refusal of that call alone', async (t) => {
  const replies = await gather(() => [refusal(read('nowhere')), refusal(read('record 1'))])
  t.same(replies, ['DEPOSIT_NOT_FOUND', null])
})

t.test('a call that makes the query fail does so alone', async (t) => {
  const replies = await gather(() => [
    refusal(read('record 1')),
    refusal(read('record 2', true)),
    refusal(read('record 3')),
  ])
  t.same(replies, [null, 'INTERNAL_ERROR', null])
})

t.test('a query cannot write, not even by force', async (t) => {
  t.equal(
    await refusal(bed.rpc.call(answerAnything, { scope, input: { writes: true } })),
    'INTERNAL_ERROR',
    'PostgreSQL refused it',
  )
  const { rowCount } = await bed.sql('payments').query("select from record where id = 'written by a query'")
  t.equal(rowCount, 0)
})
