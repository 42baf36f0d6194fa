import { operations, pageBytesMax } from '@backoffice/contracts'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { fitting, toPage } from '../../src/index.ts'
import { payments } from '../probe-services.ts'

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
  const bed = await testBed(t, { payments })
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
