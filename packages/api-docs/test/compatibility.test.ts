import { readFileSync } from 'node:fs'
import { patternMessages } from '@backoffice/contracts'
import t from 'tap'
import { openApiDocument, operators, providers, type Surface } from '../src/index.ts'

type Json = { readonly [name: string]: unknown }
type Schema = Json & {
  readonly properties?: Record<string, Schema>
  readonly required?: string[]
  readonly enum?: unknown[]
  readonly items?: Schema
}

/** A released document, and today's of the same surface. */
interface Pair {
  readonly released: Json
  readonly current: Json
}
function pairOf(file: string, surface: Surface): Pair {
  const released = JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')) as Json
  const baseUrl = `https://backoffice.invalid${surface.prefix}`
  return { released, current: openApiDocument({ baseUrl, surface }) as Json }
}
const ofOperators = pairOf('released/openapi-1.1.0.json', operators)
const ofProviders = pairOf('released/providers-1.0.0.json', providers)

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
const onlyRefusesControls = (was: Schema, is: Schema, direction: Direction) =>
  direction === 'request' &&
  was.pattern === undefined &&
  was.format === is.format &&
  String(is.pattern) in patternMessages

/** A request may have a wider form: a word of 1 to 64 characters is a line of as many. */
const widensWord = (was: Schema, is: Schema, direction: Direction) =>
  direction === 'request' &&
  was.pattern === '^[A-Za-z0-9_-]{1,64}$' &&
  String(is.pattern) in patternMessages &&
  Number(is.minLength) <= 1 &&
  Number(is.maxLength) >= 64

const [least, most] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]

function isNarrower(was: Schema, is: Schema): boolean {
  const limit = (schema: Schema, name: string, otherwise: number) => Number(schema[name] ?? otherwise)
  return (
    ['maxLength', 'maximum', 'maxItems', 'maxProperties'].some(
      (name) => limit(is, name, most) < limit(was, name, most),
    ) ||
    ['minLength', 'minimum', 'minItems', 'minProperties'].some(
      (name) => limit(is, name, least) > limit(was, name, least),
    )
  )
}

type Direction = 'request' | 'reply'

/** Clients take values of these replies that they do not know: the field says so, and so does the guide. */
const openLists: readonly unknown[] = ['#/components/schemas/LedgerType']

/** What a client that was written for `before` could trip over in `after`. */
function breaks(pair: Pair, before: Schema, after: Schema, direction: Direction, path: string): string[] {
  const was = resolve(pair.released, before) as Schema
  const is = resolve(pair.current, after) as Schema | undefined
  if (is === undefined) return [`${path} is gone`]
  const found: string[] = []
  if (JSON.stringify(was.type) !== JSON.stringify(is.type)) found.push(`${path} has another type`)
  const isWider = widensWord(was, is, direction)
  const sameForm = (was.pattern === is.pattern && was.format === is.format) || onlyRefusesControls(was, is, direction)
  if (!sameForm && !isWider) found.push(`${path} has another form`)
  // A client may send any of the former values, and may get no other.
  const [wide, narrow] = direction === 'request' ? [is.enum, was.enum] : [was.enum, is.enum]
  const mayGrow = direction === 'reply' && openLists.includes(after.$ref)
  for (const value of mayGrow ? [] : (narrow ?? []))
    if (wide !== undefined && !wide.includes(value)) found.push(`${path} has other values`)
  const [demanding, former] = direction === 'request' ? [is.required, was.required] : [was.required, is.required]
  for (const name of demanding ?? [])
    if (!(former ?? []).includes(name)) found.push(`${path}.${name} is required otherwise than before`)
  if (direction === 'request' && !isWider && isNarrower(was, is)) found.push(`${path} is more limited`)
  if (was.additionalProperties !== false && is.additionalProperties === false) found.push(`${path} is closed`)
  // Who checks what is closed refuses a field that it does not know.
  const added = Object.keys(is.properties ?? {}).filter((name) => !(name in (was.properties ?? {})))
  if (direction === 'reply' && is.additionalProperties === false)
    found.push(...added.map((name) => `${path}.${name} is new in what is closed`))
  for (const [name, property] of Object.entries(was.properties ?? {})) {
    found.push(...breaks(pair, property, is.properties?.[name] as Schema, direction, `${path}.${name}`))
  }
  if (was.items !== undefined) found.push(...breaks(pair, was.items, is.items as Schema, direction, `${path}[]`))
  return found
}

/** The schema of each error that a response may carry, by its code. In the operators' release 1.1.0 it was one for all codes. */
function errorsOf({ current }: Pair, response: Schema): ReadonlyMap<string, Schema> {
  const error = resolve(current, response.properties?.error) as Schema
  const members = ((error.oneOf as Schema[] | undefined) ?? [error]).map((member) => resolve(current, member) as Schema)
  return new Map(members.map((member) => [String(member.properties?.code?.enum?.[0]), member]))
}

/** What release 1.1.0 always put into the details of an error, as its sources say: its document said nothing of it. */
const releasedDetails: Readonly<Record<string, readonly string[]>> = {
  VALIDATION_ERROR: ['in', 'issues'],
  INVALID_SIGNATURE: ['canonicalString'],
  TIMESTAMP_OUT_OF_RANGE: ['serverTime'],
  PLAYER_ALREADY_EXISTS: ['playerId'],
  DEPOSIT_ALREADY_EXISTS: ['depositId'],
  DEPOSIT_NOT_PENDING: ['depositId', 'status'],
  WITHDRAWAL_NOT_CANCELLABLE: ['withdrawalId', 'status'],
  WITHDRAWAL_INVALID_STATE: ['withdrawalId', 'status'],
  CURRENCY_MISMATCH: ['expected', 'received'],
  RG_BLOCKED: ['reason'],
  PLAYER_NOT_ACTIVE: ['status'],
  KYC_NOT_APPROVED: ['kycStatus'],
}

/** A code has the envelope as before. If it has details, a reply of release 1.1.0 must fit them, too. */
function errorBreaks(pair: Pair, code: string, before: Schema, after: Schema): string[] {
  if (pair === ofProviders) return breaks(pair, before, after, 'reply', code)
  const { details, ...others } = before.properties ?? {}
  const is = resolve(pair.current, after.properties?.details) as Schema | undefined
  const found = breaks(pair, { ...before, properties: others }, after, 'reply', code)
  if (is === undefined || details === undefined) return found
  const { [code]: always = [] } = releasedDetails
  // Release 1.1.0 sent no details of a code that is not listed.
  const missing = always.length === 0 ? [] : (is.required ?? []).filter((name) => !always.includes(name))
  return [
    ...found,
    ...breaks(pair, details, is, 'reply', `${code}.details`),
    ...missing.map((name) => `${code}.details.${name} is not in a reply of release 1.1.0`),
  ]
}

/** The parameters of an operation, by place and name. */
function parametersOf(document: Json, where: readonly string[]): ReadonlyMap<string, Json & { schema: Schema }> {
  const operation = at(document, ...where)
  const list = ((operation.parameters ?? []) as Json[]).map(
    (one) => resolve(document, one) as Json & { schema: Schema },
  )
  return new Map(list.map((one) => [`${one.in} ${one.name}`, one]))
}

/** What a client that sends what was asked for could be refused for now. */
function parameterBreaks(pair: Pair, where: readonly string[]): string[] {
  const [before, after] = [parametersOf(pair.released, where), parametersOf(pair.current, where)]
  const found: string[] = []
  for (const [name, { schema }] of before) {
    found.push(...breaks(pair, schema, after.get(name)?.schema as Schema, 'request', name))
  }
  for (const [name, { required }] of after) {
    if (required === true && before.get(name)?.required !== true) found.push(`${name} is now demanded`)
  }
  return found
}

const json = (document: Json, names: readonly string[]) =>
  at(document, ...names, 'content', 'application/json', 'schema') as Schema

/** What of a released operation is not as it was. */
function operationBreaks(pair: Pair, where: readonly string[], id: string): string[] {
  const { released, current } = pair
  const body = [...where, 'requestBody']
  const changes = breaks(pair, json(released, body), json(current, body), 'request', `${id} body`)
  changes.push(...parameterBreaks(pair, where))
  for (const status of Object.keys(at(released, ...where, 'responses'))) {
    const response = [...where, 'responses', status]
    const [was, is] = [json(released, response), json(current, response)]
    if (Number(status) < 400) {
      changes.push(...breaks(pair, was, is, 'reply', `${id} ${status}`))
      continue
    }
    const before = errorsOf({ ...pair, current: released }, was)
    const errors = errorsOf(pair, is)
    for (const code of Object.keys(at(released, ...response, 'content', 'application/json', 'examples'))) {
      const error = errors.get(code)
      if (error === undefined) changes.push(`${id} no longer answers ${status} ${code}`)
      else changes.push(...errorBreaks(pair, code, before.get(code) ?? ([...before.values()][0] as Schema), error))
    }
  }
  return changes
}

for (const [name, pair] of Object.entries({ operators: ofOperators, providers: ofProviders }))
  t.test(
    `every released operation of ${name} keeps its route, its replies, its error codes and its fields`,
    async (t) => {
      for (const [path, methods] of Object.entries(at(pair.released, 'paths')) as [string, Record<string, Json>][]) {
        for (const [method, { operationId }] of Object.entries(methods)) {
          const where = ['paths', path, method]
          t.equal(at(pair.current, ...where).operationId, operationId, `${method} ${path}`)
          t.strictSame(operationBreaks(pair, where, String(operationId)), [], `${operationId} is compatible`)
        }
      }
    },
  )

t.test('every released event keeps its fields', async (t) => {
  const { released, current } = ofOperators
  for (const kind of Object.keys(at(released, 'webhooks'))) {
    const where = ['webhooks', kind, 'post', 'requestBody']
    t.strictSame(breaks(ofOperators, json(released, where), json(current, where), 'reply', kind), [])
  }
})

t.test('the comparison finds what would break a client', async (t) => {
  const before: Schema = {
    type: 'object',
    required: ['a'],
    properties: { a: { type: 'string' }, b: { type: 'string', enum: ['x', 'y'] } },
  }
  const replies: readonly (readonly [what: string, after: Schema, found: number])[] = [
    ['the same', before, 0],
    ['a new field is fine', { ...before, properties: { ...before.properties, c: { type: 'string' } } }, 0],
    ['a field that is gone', { ...before, properties: { a: { type: 'string' } } }, 1],
    ['another type', { ...before, properties: { ...before.properties, a: { type: 'integer' } } }, 1],
    ['a field that may now be missing', { ...before, required: [] }, 1],
    ['an object that is now closed', { ...before, additionalProperties: false }, 1],
  ]
  for (const [what, after, found] of replies)
    t.equal(breaks(ofOperators, before, after, 'reply', 'r').length, found, what)
  const limited = (limits: Schema) =>
    breaks(ofOperators, { type: 'string', minLength: 1 }, { type: 'string', ...limits }, 'request', 'r')
  t.equal(limited({ minLength: 1 }).length, 0)
  t.equal(limited({}).length, 0)
  t.equal(limited({ minLength: 2 }).length, 1, 'a text that must be longer')
  t.equal(limited({ minLength: 1, maxLength: 9 }).length, 1, 'a text that must be shorter')
  t.equal(
    breaks(ofOperators, before, { ...before, required: ['a', 'b'] }, 'request', 'r').length,
    1,
    'a field that is now demanded',
  )
})
