import { allOperations, events, type Operation, operations, storedBytesMax } from '@backoffice/contracts'
import { type TSchema, Type } from '@sinclair/typebox'
import t from 'tap'
import { inputSchema, validate, validateAsReader, validateAsWritten } from '../src/message.ts'

const { data: schema, ...entry } = events['kyc.status_changed']
const example = entry.example as { readonly submissions: readonly unknown[] }
const { submissions, ...change } = example
/** As the release before stored it. */
const withHistory = {
  ...change,
  submissions: Array.from({ length: 100 }, () => submissions[0]),
  reason: 'x'.repeat(501),
}

t.test('what is written now is bounded; what was written before, or elsewhere, may be longer', async (t) => {
  t.equal(validate(schema, example), null)
  t.match(
    validate(schema, withHistory)
      ?.map(({ path }) => path)
      .sort(),
    ['/reason', '/submissions'],
  )
  t.equal(validateAsWritten(schema, withHistory), null)
  t.equal(validateAsReader(schema, withHistory), null)
})

t.test('a field that is not known is a fault of this service, and none of another one', async (t) => {
  const newer = { ...example, surplus: 1 }
  t.match(validateAsWritten(schema, newer), [{ path: '/surplus' }])
  t.equal(validateAsReader(schema, newer), null)
})

t.test('the issues of a hostile input are bounded: they are part of a refusal, which is stored', async (t) => {
  const schema = inputSchema(operations.players.registerPlayer)
  const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(validate(schema, value)))
  const long = { ['\u0001'.repeat(60_000)]: 1 }
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`${n}${'😀'.repeat(150)}`, 1]))
  for (const hostile of [long, many]) t.ok(bytesOf(hostile) < storedBytesMax - 1_000, `${bytesOf(hostile)} bytes`)
  t.match(
    validate(schema, { ['a'.repeat(200)]: 1 })?.find(({ path }) => path.startsWith('/aaa')),
    {
      path: `/${'a'.repeat(127)}…`,
      message: 'is not a known field',
    },
  )
})

const counted = Type.Object({
  name: Type.String({ minLength: 2, maxLength: 4 }),
  note: Type.Optional(Type.Union([Type.String({ maxLength: 2 }), Type.Null()])),
})

t.test('lengths are counted in code points, as JSON Schema does', async (t) => {
  const cases: readonly (readonly [string, boolean])[] = [
    ['a', false],
    ['ab', true],
    ['abcd', true],
    ['abcde', false],
    ['😀', false],
    ['😀😀', true],
    ['😀😀😀😀', true],
    ['😀😀😀😀a', false],
    ['a😀b😀', true],
    ['é'.repeat(4), true],
    ['é'.repeat(5), false],
  ]
  for (const [name, valid] of cases) t.equal(validate(counted, { name }) === null, valid, name)
})

t.test('it holds inside optional fields and unions, and leaves other rules alone', async (t) => {
  t.equal(validate(counted, { name: 'ab', note: '😀😀' }), null)
  t.equal(validate(counted, { name: 'ab', note: null }), null)
  t.not(validate(counted, { name: 'ab', note: '😀😀😀' }), null)
  t.not(validate(counted, { name: 5 }), null)
})

t.test('the issue says how many characters are right', async (t) => {
  t.same(validate(counted, { name: 'a' }), [{ path: '/name', message: 'must have 2 to 4 characters' }])
})

/** C0, DEL and C1: what moves a terminal's cursor, or looks like another row. */
const controls = Array.from({ length: 0x100 }, (_, code) => code).filter(
  (code) => code < 0x20 || (code >= 0x7f && code < 0xa0),
)
const lineEnds = [0x09, 0x0a, 0x0d]

/**
 * Fields that only find what is there: an id, a name, a cursor. They are stored by nobody but the audit trail, and what
 * an earlier release accepted must still be found.
 */
const lookups = new Set([
  ...['operatorId', 'brandId', 'providerId', 'roundId', 'playerId', 'withdrawalId', 'fileId', 'transferId', 'gameId'],
  ...['commandId', 'depositId', 'operationId', 'proposalId', 'submission', 'after', 'id', 'key'],
])

/** Every place of text in the body of an operation that changes something. */
function texts(schema: TSchema, path = ''): [path: string, schema: TSchema][] {
  if (schema.const !== undefined) return []
  if (schema.type === 'string') return [[path, schema]]
  if (schema.type === 'array') return texts(schema.items, `${path}[]`)
  if (schema.anyOf !== undefined) return (schema.anyOf as TSchema[]).flatMap((each) => texts(each, path))
  return Object.entries<TSchema>(schema.properties ?? {}).flatMap(([name, each]) =>
    texts(each, path === '' ? name : `${path}.${name}`),
  )
}

const written = allOperations.filter(
  ({ audience, kind }) => audience !== 'internal' && audience !== 'public' && kind !== 'query',
)
const fieldsOf = (operation: Operation) =>
  texts(operation.body).filter(([path]) => !lookups.has(path.slice(path.lastIndexOf('.') + 1)))

t.test('no control character is accepted in text that is kept; reasons may have tabs and line ends', async (t) => {
  for (const operation of written) {
    for (const [path, schema] of fieldsOf(operation)) {
      const accepted = controls.filter((code) => validate(schema, `ab${String.fromCodePoint(code)}cd`) === null)
      t.same(accepted, ['reason', 'restsOn'].includes(path) ? lineEnds : [], `${operation.id} ${path}`)
    }
  }
})

t.test('whoever sends one is told so in words, at the field', async (t) => {
  const { body } = written.find(({ id }) => id === 'requestWithdrawal') as Operation
  const request = { amount: '1.00', currency: 'BRL', method: 'pix', destination: 'ana\u001b[2K' }
  t.same(validate(body, request), [{ path: '/destination', message: 'must have no control characters' }])
  const failed = (written.find(({ id }) => id === 'failDeposit') as Operation).body
  t.same(validate(failed, { reason: 'a\u009b2K' }), [
    { path: '/reason', message: 'must have no control characters but tabs and line ends' },
  ])
  t.equal(validate(failed, { reason: 'refused by the bank:\r\n\tcode 51' }), null)
})

t.test('other text is accepted as before, in any script and direction', async (t) => {
  const { body } = written.find(({ id }) => id === 'registerPlayer') as Operation
  for (const name of ['João Conceição', '山田太郎', 'فاطمة\u200f', 'Ana 🎲', 'A\u2028B', '\u00a0x']) {
    const player = { externalId: name, name, email: 'a@b.co', cpf: '52998224725', birthDate: '1990-05-17' }
    t.equal(validate(body, player), null, encodeURIComponent(name))
  }
})
