import { events, operations, storedBytesMax } from '@backoffice/contracts'
import { Type } from '@sinclair/typebox'
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
