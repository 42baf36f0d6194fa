import { readFileSync } from 'node:fs'
import { patternMessages } from '@backoffice/contracts'
import t from 'tap'
import { openApiDocument } from '../src/index.ts'

type Json = { readonly [name: string]: unknown }
type Schema = Json & {
  readonly properties?: Record<string, Schema>
  readonly required?: string[]
  readonly enum?: unknown[]
  readonly items?: Schema
}

const baseUrl = 'https://backoffice.invalid/api/v1'
const released = JSON.parse(readFileSync(new URL('../released/openapi-1.1.0.json', import.meta.url), 'utf8')) as Json
const current = openApiDocument({ baseUrl }) as Json

/** Follows a path of names, and references on the way. */
function at(document: Json, ...names: readonly string[]): Json {
  let value = document as unknown
  for (const name of names) value = resolve(document, (value as Json | undefined)?.[name])
  return (value ?? {}) as Json
}

function resolve(document: Json, value: unknown): unknown {
  const reference = (value as { $ref?: string } | undefined)?.$ref
  if (reference === undefined) return value
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((node, name) => (node as Json)[name.replaceAll('~1', '/')], document)
}

/**
 * The one narrowing that is allowed in requests: no control characters in text. No integration writes them on purpose,
 * and raw they could deceive whoever decides about a record. Such text is still found and returned.
 */
const onlyRefusesControls = (was: Schema, is: Schema, direction: 'request' | 'reply') =>
  direction === 'request' &&
  was.pattern === undefined &&
  was.format === is.format &&
  String(is.pattern) in patternMessages

/** What a client that was written for `before` could trip over in `after`. */
function breaks(before: Schema, after: Schema, direction: 'request' | 'reply', path: string): string[] {
  const was = resolve(released, before) as Schema
  const is = resolve(current, after) as Schema | undefined
  if (is === undefined) return [`${path} is gone`]
  const found: string[] = []
  if (JSON.stringify(was.type) !== JSON.stringify(is.type)) found.push(`${path} has another type`)
  const sameForm = (was.pattern === is.pattern && was.format === is.format) || onlyRefusesControls(was, is, direction)
  if (!sameForm) found.push(`${path} has another form`)
  // A client may send any of the former values, and may get no other.
  const [wide, narrow] = direction === 'request' ? [is.enum, was.enum] : [was.enum, is.enum]
  for (const value of narrow ?? [])
    if (wide !== undefined && !wide.includes(value)) found.push(`${path} has other values`)
  const [demanding, former] = direction === 'request' ? [is.required, was.required] : [was.required, is.required]
  for (const name of demanding ?? [])
    if (!(former ?? []).includes(name)) found.push(`${path}.${name} is required otherwise than before`)
  for (const limit of ['maxLength', 'maximum', 'maxItems']) {
    if (
      direction === 'request' &&
      Number(is[limit] ?? Number.POSITIVE_INFINITY) < Number(was[limit] ?? Number.POSITIVE_INFINITY)
    )
      found.push(`${path} is more limited`)
  }
  for (const [name, property] of Object.entries(was.properties ?? {})) {
    found.push(...breaks(property, is.properties?.[name] as Schema, direction, `${path}.${name}`))
  }
  if (was.items !== undefined) found.push(...breaks(was.items, is.items as Schema, direction, `${path}[]`))
  return found
}

const json = (document: Json, names: readonly string[]) =>
  at(document, ...names, 'content', 'application/json', 'schema') as Schema

t.test('every released operation keeps its route, its replies, its error codes and its fields', async (t) => {
  for (const [path, methods] of Object.entries(at(released, 'paths')) as [string, Record<string, Json>][]) {
    for (const [method, operation] of Object.entries(methods)) {
      const where = ['paths', path, method]
      t.equal(at(current, ...where).operationId, operation.operationId, `${method} ${path}`)
      const changes = breaks(
        json(released, [...where, 'requestBody']),
        json(current, [...where, 'requestBody']),
        'request',
        `${operation.operationId} body`,
      )
      for (const status of Object.keys(at(released, ...where, 'responses'))) {
        const response = [...where, 'responses', status]
        if (Number(status) < 400)
          changes.push(
            ...breaks(json(released, response), json(current, response), 'reply', `${operation.operationId} ${status}`),
          )
        const codes = Object.keys(at(released, ...response, 'content', 'application/json', 'examples'))
        const now = Object.keys(at(current, ...response, 'content', 'application/json', 'examples'))
        for (const code of codes)
          if (Number(status) >= 400 && !now.includes(code))
            changes.push(`${operation.operationId} no longer answers ${status} ${code}`)
      }
      t.strictSame(changes, [], `${operation.operationId} is compatible`)
    }
  }
})

t.test('every released event keeps its fields', async (t) => {
  for (const kind of Object.keys(at(released, 'webhooks'))) {
    const where = ['webhooks', kind, 'post', 'requestBody']
    t.strictSame(breaks(json(released, where), json(current, where), 'reply', kind), [])
  }
})

t.test('the comparison finds what would break a client', async (t) => {
  const before: Schema = {
    type: 'object',
    required: ['a'],
    properties: { a: { type: 'string' }, b: { type: 'string', enum: ['x', 'y'] } },
  }
  const reply = (after: Schema) => breaks(before, after, 'reply', 'r').length
  t.equal(reply(before), 0)
  t.equal(reply({ ...before, properties: { ...before.properties, c: { type: 'string' } } }), 0, 'a new field is fine')
  t.equal(reply({ ...before, properties: { a: { type: 'string' } } }), 1, 'a field that is gone')
  t.equal(reply({ ...before, properties: { ...before.properties, a: { type: 'integer' } } }), 1, 'another type')
  t.equal(reply({ ...before, required: [] }), 1, 'a field that may now be missing')
  t.equal(breaks(before, { ...before, required: ['a', 'b'] }, 'request', 'r').length, 1, 'a field that is now demanded')
})
