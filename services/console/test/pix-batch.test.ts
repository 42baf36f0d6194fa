import { batchKeyOf } from '@backoffice/contracts'
import t from 'tap'
import { type BatchRecord, pixBatch } from '../src/pieces/pix-batch.ts'

/**
 * The tables of "Layout padrao CNAB240 V 10 11 - 21_08_2023.pdf" of FEBRABAN, 2.2 and 3.1.2, copied line by line: the field,
 * its first and last position, N for numbers and A for texts, and the value where the document gives one (- for blanks).
 */
const account = (first: number, record: string) =>
  ['18 18 N', '19 32 N', '33 52 A', '53 57 N', '58 58 A', '59 70 N', '71 71 A', '72 72 A', '73 102 A']
    .map((line, index) => `${String(first + index).padStart(2, '0')}.${record} ${line}`)
    .join('; ')
const layouts = {
  fileHeader: `01.0 1 3 N; 02.0 4 7 N 0000; 03.0 8 8 N 0; 04.0 9 17 A -; ${account(5, '0')}; 14.0 103 132 A; 15.0 133 142 A -;
    16.0 143 143 N; 17.0 144 151 N; 18.0 152 157 N; 19.0 158 163 N; 20.0 164 166 N 103; 21.0 167 171 N; 22.0 172 191 A;
    23.0 192 211 A; 24.0 212 240 A -`,
  lotHeader: `01.1 1 3 N; 02.1 4 7 N; 03.1 8 8 N 1; 04.1 9 9 A C; 05.1 10 11 N; 06.1 12 13 N; 07.1 14 16 N 046; 08.1 17 17 A -;
    ${account(9, '1')}; 18.1 103 142 A; 19.1 143 172 A; 20.1 173 177 N; 21.1 178 192 A; 22.1 193 212 A; 23.1 213 217 N;
    24.1 218 220 A; 25.1 221 222 A; 26.1 223 224 N; 27.1 225 230 A -; 28.1 231 240 A`,
  segmentA: `01.3A 1 3 N; 02.3A 4 7 N; 03.3A 8 8 N 3; 04.3A 9 13 N; 05.3A 14 14 A A; 06.3A 15 15 N; 07.3A 16 17 N; 08.3A 18 20 N;
    09.3A 21 23 N; 10.3A 24 28 N; 11.3A 29 29 A; 12.3A 30 41 N; 13.3A 42 42 A; 14.3A 43 43 A; 15.3A 44 73 A; 16.3A 74 93 A;
    17.3A 94 101 N; 18.3A 102 104 A; 19.3A 105 119 N; 20.3A 120 134 N; 21.3A 135 154 A; 22.3A 155 162 N; 23.3A 163 177 N;
    24.3A 178 217 A; 25.3A 218 219 A; 26.3A 220 224 A; 27.3A 225 226 A; 28.3A 227 229 A -; 29.3A 230 230 N; 30.3A 231 240 A`,
  segmentB: `01.3B 1 3 N; 02.3B 4 7 N; 03.3B 8 8 N 3; 04.3B 9 13 N; 05.3B 14 14 A B; 06.3B 15 17 A; 07.3B 18 18 N; 08.3B 19 32 N;
    09.3B 33 67 A; 10.3B 68 127 A; 11.3B 128 226 A; 12.3B 227 232 N; 13.3B 233 240 N`,
  lotTrailer: `01.5 1 3 N; 02.5 4 7 N; 03.5 8 8 N 5; 04.5 9 17 A -; 05.5 18 23 N; 06.5 24 41 N; 07.5 42 59 N; 08.5 60 65 N;
    09.5 66 230 A -; 10.5 231 240 A`,
  fileTrailer: `01.9 1 3 N; 02.9 4 7 N 9999; 03.9 8 8 N 9; 04.9 9 17 A -; 05.9 18 23 N; 06.9 24 29 N; 07.9 30 35 N; 08.9 36 240 A -`,
}
type RecordName = keyof typeof layouts

const fieldsOf = (name: RecordName) =>
  layouts[name].split(/;\s*/).map((line) => {
    const [field = '', from, to, format, value] = line.trim().split(' ')
    return { field, from: Number(from), to: Number(to), format, value }
  })

/** What stands in a field, by the positions of the document and not of the program. */
function read(record: BatchRecord | undefined, name: RecordName, field: string): string {
  const found = fieldsOf(name).find((one) => one.field === field)
  if (record === undefined || found === undefined) throw new Error(`no ${field}`)
  return record.line.slice(found.from - 1, found.to)
}

const agreement = {
  bank: '001',
  bankName: 'Banco do Brasil',
  cnpj: '11222333000181',
  company: 'Casa de Apostas Azul Ltda',
  agreement: '123456',
  branch: '1234',
  branchDigit: '5',
  account: '98765',
  accountDigit: 'X',
}
const random = '123e4567-e89b-12d3-a456-426614174000'
const keys = ['+55 (11) 98765-4321', 'Ana@Example.com', '529.982.247-25', random, '11.222.333/0001-81']
const id = (place: number) => `wdr_01jf0000000000000000000${String(place).padStart(3, '0')}`
const payments = keys.map((destination, place) => ({
  ...{ id: id(place), amount: `${10 ** place}.05`, destination },
  payee: place === 0 ? 'José Antônio de Albuquerque Figueiredo Cavalcanti' : 'Ana Souza',
}))
const records = pixBatch({ agreement, payments, number: 123, at: '2026-11-05T09:08:07' })
const names: RecordName[] = [
  'fileHeader',
  'lotHeader',
  ...keys.flatMap((): RecordName[] => ['segmentA', 'segmentB']),
  'lotTrailer',
  'fileTrailer',
]

t.test('each record has the fields of the document, at its positions, in its format and with its values', async (t) => {
  t.equal(records.length, names.length)
  for (const [place, record] of records.entries()) {
    const name = names[place] as RecordName
    t.match(record.line, /^[ -~]{240}$/, `${name} has 240 positions`)
    const wanted = fieldsOf(name)
    t.equal(wanted.at(-1)?.to, 240)
    t.strictSame(
      record.fields.map(([field, from, to, format]) => [field, from, to, format]),
      wanted.map(({ field, from, to, format }) => [field, from, to, format === 'N' ? 'num' : 'alpha']),
      name,
    )
    for (const { field, format, value } of wanted) {
      const text = read(record, name, field)
      if (value !== undefined) t.equal(text.trim(), value === '-' ? '' : value, `${field} of ${name}`)
      t.match(text, format === 'N' ? /^\d+$/ : /^(\S.*| *)$/, `${field}: numbers without blanks, texts on the left`)
    }
  }
})

t.test('the file says whose account is debited, when it was made, and which file it is', async (t) => {
  for (const [place, name, first, record] of [
    [0, 'fileHeader', 5, '0'],
    [1, 'lotHeader', 9, '1'],
  ] as const) {
    const at = (offset: number) => read(records[place], name, `${String(first + offset).padStart(2, '0')}.${record}`)
    const shown = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(at)
    t.strictSame(
      shown.map((text) => text.trimEnd()),
      ['2', '11222333000181', '123456', '01234', '5', '000000098765', 'X', '', 'CASA DE APOSTAS AZUL LTDA'],
    )
  }
  const header = ['01.0', '16.0', '17.0', '18.0', '19.0'].map((field) => read(records[0], 'fileHeader', field))
  t.strictSame(header, ['001', '1', '05112026', '090807', '000123'])
  const lot = ['02.1', '04.1', '05.1', '06.1', '26.1'].map((field) => read(records[1], 'lotHeader', field))
  t.strictSame(lot, ['0001', 'C', '98', '45', '01'], 'payments by Pix transfer')
})

t.test('a payment has its amount, its day, its payee and the end of its id, and goes through the SPI', async (t) => {
  const of = (place: number) => (field: string) => read(records[2 + place * 2], 'segmentA', field)
  const fields = ['04.3A', '06.3A', '07.3A', '08.3A', '16.3A', '17.3A', '18.3A', '20.3A']
  t.strictSame(fields.map(of(0)), ['00001', '0', '00', '009', id(0).slice(-20), '05112026', 'BRL', '000000000000105'])
  t.equal(of(0)('15.3A'), 'JOSE ANTONIO DE ALBUQUERQUE FI')
  t.strictSame(['04.3A', '20.3A'].map(of(4)), ['00009', '000000001000005'])
})

t.test('the payee is known by the key in the form of the directory, each type in its field', async (t) => {
  const fields = ['06.3B', '07.3B', '08.3B', '10.3B', '11.3B']
  const none = '00000000000000'
  t.strictSame(
    keys.map((_, place) => fields.map((field) => read(records[3 + place * 2], 'segmentB', field).trimEnd())),
    [
      ['01', '0', none, '+5511987654321', '+5511987654321'],
      ['02', '0', none, 'ana@example.com', 'ana@example.com'],
      ['03', '1', '00052998224725', '', ''],
      ['04', '0', none, random, random],
      ['03', '2', '11222333000181', '', ''],
    ],
  )
})

t.test('the trailers count the records and add up the amounts', async (t) => {
  const lot = ['05.5', '06.5'].map((field) => read(records.at(-2), 'lotTrailer', field))
  t.strictSame(lot, ['000012', '000000000001111125'])
  const file = ['05.9', '06.9'].map((field) => read(records.at(-1), 'fileTrailer', field))
  t.strictSame(file, ['000001', '000014'])
})

t.test('what is no Pix key, or has no place in the file, is in none', async (t) => {
  const payment = { method: 'pix', currency: 'BRL', destination: 'ana@example.com' }
  t.match(batchKeyOf(payment), { type: 'email', key: 'ana@example.com' })
  t.match(batchKeyOf({ ...payment, method: 'PIX QR' }), { type: 'email' })
  const others = [
    { method: 'ted' },
    { currency: 'USD' },
    { destination: '001 1234-5 98765-X' },
    { destination: '529.982.247-24' },
    { destination: '11987654321' },
    // A telephone, whose digits are those of somebody's CPF.
    { destination: '(11) 98765-0034' },
    { destination: 'josé@example.com' },
    { destination: 'ana@example.com ou 529.982.247-25' },
    { destination: 'ana@example .com' },
    { destination: '@ana' },
    { destination: `${'a'.repeat(70)}@example.com` },
    // A number of a company with letters: the field takes digits alone.
    { destination: '12ABC34501DE35' },
  ]
  for (const other of others) t.equal(batchKeyOf({ ...payment, ...other }), undefined, JSON.stringify(other))
  for (const destination of ['52998224725', '529.982.247-25'])
    t.match(batchKeyOf({ ...payment, destination }), { type: 'cpf', key: '52998224725' })
  const long = `${'a'.repeat(60)}@example.com`
  const [, , , segmentB] = pixBatch({
    ...{ agreement, number: 1, at: '2026-11-05T09:08:07' },
    payments: [{ id: id(1), amount: '1.00', destination: long, payee: 'Ana' }],
  })
  const shown = ['10.3B', '11.3B'].map((field) => read(segmentB, 'segmentB', field).trimEnd())
  t.strictSame(shown, ['', long], 'a key that does not fit is nowhere cut')
})
