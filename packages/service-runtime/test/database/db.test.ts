import { compile } from '@backoffice/database/testing'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import { sql } from '../../src/index.ts'
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

const records = [
  { brandId: 'b', amount: 2n, input: { a: 'x' } },
  { brandId: 'a', amount: 1n, input: null },
]
const columns = `
  brand_id text, amount bigint,
  input json
`

t.test('a list of records is a table, whose columns are written once with their types', async (t) => {
  const { statement, values } = compile(
    ...template`select place from ${sql.unnest('r', records, columns)} order by place`,
  )
  const table = 'unnest($1::text[], $2::bigint[], $3::json[]) with ordinality as r (brand_id, amount, input, place)'
  t.equal(statement.text, `select place from ${table} order by place`)
  t.same(values, [
    ['b', 'a'],
    [2n, 1n],
    ['{"a":"x"}', 'null'],
  ])
  t.same(compile(...template`select place from ${sql.unnest('r', [], columns)} order by place`).statement, statement)
  const rows = await db`select ${sql.columns(columns)}, place from ${sql.unnest('r', records, columns)} order by amount`
  t.same(rows, [
    { ...records[1], place: 2n },
    { ...records[0], place: 1n },
  ])
})

t.test('statements that write records name their columns as the list does', (t) => {
  const inserted = sql.rows('r', records, 'brand_id text, amount bigint')
  t.equal(
    compile(...template`insert into record ${inserted}`).statement.text,
    'insert into record (brand_id, amount) select brand_id, amount from unnest($1::text[], $2::bigint[]) with ordinality as r (brand_id, amount, place)',
  )
  const changed = sql.assignments('r', 'amount bigint, input json')
  t.equal(
    compile(...template`update record set ${changed}`).statement.text,
    'update record set amount = r.amount, input = r.input',
  )
  t.end()
})

t.test('a column that records do not have, or that has no type, does not compile', (t) => {
  // @ts-expect-error: the field is called brandId
  sql.unnest('r', records, 'brand text')
  // @ts-expect-error: a type is missing
  sql.unnest('r', records, 'brand_id')
  t.end()
})

t.test('it is prepared once per connection', async (t) => {
  for (const id of ['a', 'b', 'c']) await db`select id as prepared_once from record where id = ${id}`
  const rows = await db<{ calls: bigint }>`
    select generic_plans + custom_plans as calls from pg_prepared_statements where statement like '%prepared_once%'
      and statement not like '%pg_prepared%'
  `
  t.same(rows, [{ calls: 3n }])
})
