import { allOperations, type Operation } from '@backoffice/contracts'
import type { TSchema } from '@sinclair/typebox'
import t from 'tap'
import { validate } from '../src/message.ts'

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
  'operatorId',
  'brandId',
  'playerId',
  'withdrawalId',
  'transferId',
  'gameId',
  'commandId',
  'depositId',
  'operationId',
  'proposalId',
  'submission',
  'after',
  'id',
  'key',
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
      t.same(accepted, path === 'reason' ? lineEnds : [], `${operation.id} ${path}`)
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
