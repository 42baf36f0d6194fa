import { formats, toMinorUnits } from '@backoffice/contracts'
import { postgres } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'

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
