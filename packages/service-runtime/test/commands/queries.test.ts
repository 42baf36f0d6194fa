import { operations, pageBytesMax } from '@backoffice/contracts'
import { eventually, refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { fitting, toPage } from '../../src/index.ts'
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

const row = (id: number, bytes: number) => ({ id: String(id), text: 'x'.repeat(bytes) })
const idOf = ({ id }: { id: string }) => id

t.test('a page has as many rows as were asked for, and says where the next one begins', async (t) => {
  const rows = [1, 2, 3].map((id) => row(id, 10))
  t.same(toPage(rows, 2, idOf), { data: rows.slice(0, 2), nextCursor: '2' })
  t.same(toPage(rows, 3, idOf), { data: rows, nextCursor: null })
  t.same(toPage([], 3, idOf), { data: [], nextCursor: null })
})

t.test('it ends before the row that would make it too large, and never before the first', async (t) => {
  const half = pageBytesMax / 2 - 50
  const rows = [row(1, half), row(2, half), row(3, 1), row(4, pageBytesMax * 2)]
  t.same(toPage(rows, 4, idOf), { data: rows.slice(0, 3), nextCursor: '3' })
  t.same(toPage(rows.slice(3), 4, idOf), { data: rows.slice(3), nextCursor: null })
  t.same(fitting([row(1, half), row(2, half), row(3, half)]).map(idOf), ['1', '2'])
})

t.test('the audit trail is read page by page, over entries of one moment too', async (t) => {
  await bed.sql('admin').query(
    `insert into payments.audit_entry (id, at, actor, subject, operation, operation_id, reason, input, outcome)
    select 'aud_' || lpad(n::text, 4, '0'), '2026-03-02T12:00:00Z'::timestamptz + n / 100 * interval '1 s',
      case when n % 2 = 0 then 'alice' else 'bob' end, case when n % 3 = 0 then 'wdr_1' else 'wdr_2' end, 'decide', 'opn',
      repeat('😀', 500), json_build_object('reason', repeat('😀', 500)), 'done' from generate_series(1, 400) n`,
  )
  const { listAudit } = operations.payments
  const all = Array.from({ length: 400 }, (_, n) => 400 - n)
  for (const [filter, expected] of [
    [{}, all],
    [{ actor: 'alice' }, all.filter((n) => n % 2 === 0)],
    [{ subject: 'wdr_1' }, all.filter((n) => n % 3 === 0)],
    [{ actor: 'alice', subject: 'wdr_1' }, all.filter((n) => n % 6 === 0)],
    [{ since: '2026-03-02T12:00:03.000Z' }, all.filter((n) => n >= 300)],
  ] as const) {
    const ids: string[] = []
    for (let before: string | null | undefined; before !== null; ) {
      const input = { ...filter, limit: 1_000, ...(before === undefined ? {} : { before }) }
      const { data, nextCursor = null } = await bed.team('alice').call(listAudit, { input })
      ids.push(...data.map(idOf))
      before = nextCursor
    }
    t.same(
      ids,
      expected.map((n) => `aud_${String(n).padStart(4, '0')}`),
      JSON.stringify(filter),
    )
  }
})
