import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { compile } from '../../src/database/statement.ts'
import { sql, unnest } from '../../src/index.ts'
import { payments } from '../probe-services.ts'

const bed = await testBed(t, { payments }, { config: { payments: { DATABASE_POOL_MAX: 1 } } })
const { db } = bed.services.payments

/** A template's two parts, as a tag is given them. */
const template = (strings: TemplateStringsArray, ...values: readonly unknown[]) => [strings, values] as const

t.test('values keep their exactness: int8 is bigint, numeric and date are text, times are dates', async (t) => {
  const moment = new Date('2026-03-02T12:00:00.123Z')
  const [row] = await db`
    select 9007199254740993::bigint as big_one, ${moment}::timestamptz as some_time, '2026-03-02'::date as some_day,
      '1.10'::numeric as exact, 7 as small, '{"a": 1}'::json as document, count(*) as counted
  `
  t.same(row, {
    bigOne: 9007199254740993n,
    someTime: moment,
    someDay: '2026-03-02',
    exact: '1.10',
    small: 7,
    document: { a: 1 },
    counted: 1n,
  })
})

t.test('nulls stay null', async (t) => {
  const [row] = await db`select null::bigint as a, null::timestamptz as b, null::date as c, null::bigint[] as d`
  t.same(row, { a: null, b: null, c: null, d: null })
})

t.test('arrays are decoded as their elements are, nulls and the empty one included', async (t) => {
  const moment = new Date('2026-03-02T12:00:00.123Z')
  const [row] = await db`
    select ${[1n, null, 9007199254740993n]}::bigint[] as bigs, '{}'::bigint[] as none,
      ${[moment, null]}::timestamptz[] as times, ${['2026-03-02', null]}::date[] as days,
      ${['1.10', null]}::numeric[] as exacts, ${['a', null, 'b,"c']}::text[] as texts
  `
  t.same(row, {
    bigs: [1n, null, 9007199254740993n],
    none: [],
    times: [moment, null],
    days: ['2026-03-02', null],
    exacts: ['1.10', null],
    texts: ['a', null, 'b,"c'],
  })
})

t.test('a statement has one name per text, whatever its values', async (t) => {
  const find = (ids: readonly string[]) => compile(...template`select id from record where id = any(${ids}::text[])`)
  const first = find(['a'])
  const second = find(['b', 'c'])
  t.equal(first.statement, second.statement)
  t.equal(first.statement.text, 'select id from record where id = any($1::text[])')
  t.same(second.values, [['b', 'c']])
  const elsewhere = compile(...template`select id from record where id = any(${['d']}::text[])`)
  t.equal(elsewhere.statement.name, first.statement.name, 'written twice in the source, prepared once')
  t.not(compile(...template`select 1`).statement.name, first.statement.name)
  t.ok(first.statement.name.length < 64, 'PostgreSQL cuts longer names')
})

t.test('pieces of SQL are put into a statement with their values, in order', async (t) => {
  const positive = sql`count > ${0}`
  const { statement, values } = compile(...template`select id from record where id = ${'a'} and ${positive} limit ${1}`)
  t.equal(statement.text, 'select id from record where id = $1 and count > $2 limit $3')
  t.same(values, ['a', 0, 1])
})

t.test('it is prepared once per connection', async (t) => {
  for (const id of ['a', 'b', 'c']) await db`select id as prepared_once from record where id = ${id}`
  const rows = await db<{ calls: bigint }>`
    select generic_plans + custom_plans as calls from pg_prepared_statements where statement like '%prepared_once%'
      and statement not like '%pg_prepared%'
  `
  t.same(rows, [{ calls: 3n }])
})

t.test('a list of records is a table of a statement, whose text does not vary with how many there are', async (t) => {
  const columns = { id: 'text', depositLimit: 'bigint', at: 'timestamptz', document: 'json' } as const
  type Listed = { id: string; depositLimit: bigint | null; at: Date; document: object }
  const at = new Date('2026-03-02T12:00:00.000Z')
  const list = (records: readonly Listed[]) => db<Listed & { place: bigint }>`
    select id, deposit_limit, at, document, place from ${unnest('listed', records, columns)} order by place
  `
  const records = ['b', 'a', 'c'].map((id, index) => ({
    id,
    depositLimit: index === 1 ? null : 9007199254740993n,
    at,
    document: { id, quoted: '"\\' },
  }))
  t.same(
    await list(records),
    records.map((record, index) => ({ ...record, place: BigInt(index + 1) })),
  )
  t.same(await list([]), [])
  const textOf = (count: number) => compile(...template`select from ${unnest('l', records.slice(0, count), columns)}`)
  t.equal(textOf(1).statement, textOf(3).statement)
})
