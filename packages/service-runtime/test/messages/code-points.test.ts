import { Type } from '@sinclair/typebox'
import t from 'tap'
import { validate } from '../../src/index.ts'

const schema = Type.Object({
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
  for (const [name, valid] of cases) t.equal(validate(schema, { name }) === null, valid, name)
})

t.test('it holds inside optional fields and unions, and leaves other rules alone', async (t) => {
  t.equal(validate(schema, { name: 'ab', note: '😀😀' }), null)
  t.equal(validate(schema, { name: 'ab', note: null }), null)
  t.not(validate(schema, { name: 'ab', note: '😀😀😀' }), null)
  t.not(validate(schema, { name: 5 }), null)
})

t.test('the issue says how many characters are right', async (t) => {
  t.same(validate(schema, { name: 'a' }), [{ path: '/name', message: 'must have 2 to 4 characters' }])
})
