import { invalid, type Operation, Rejection, type ValidationDetails } from '@backoffice/contracts'
import { validate } from '@backoffice/service-runtime'
import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { visit } from 'jsonc-parser'
import { rawBody } from './authenticate.ts'

/**
 * Params, query and body of a request as the one object that the service sees. Nothing is converted except integers of
 * the query, which always arrive as text.
 * @throws {Rejection} VALIDATION_ERROR, for the first of path, query and body that is not valid, with all of its
 *   issues
 */
export function readInput(operation: Operation, request: FastifyRequest): Record<string, unknown> {
  const params = request.params as Record<string, unknown>
  check('path', operation.params, params)
  const query = readQuery(operation.query, request.raw.url ?? '')
  check('query', operation.query, query)
  const body = operation.hasBody ? readBody(rawBody(request)) : {}
  if (operation.hasBody) check('body', operation.body, body)
  return { ...params, ...query, ...known(operation.body, body as Record<string, unknown>) }
}

function check(place: ValidationDetails['in'], schema: TObject, value: unknown): void {
  const issues = validate(schema, value)
  if (issues !== null) throw new Rejection('VALIDATION_ERROR', { in: place, issues })
}

/** An absent body counts as an empty object. Where fields are required, the issues say so. */
function readBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return {}
  try {
    return parseStrictJson(bytes)
  } catch (error) {
    if (error instanceof StrictJsonError) throw invalid('body', error.path, error.message)
    throw error
  }
}

/** The fields that the operation names. Other fields, where they are allowed, are ignored. */
function known(schema: TObject, body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(schema.properties, name)))
}

/** The parameters that the operation names. A repeated parameter is refused, because its meaning would be a guess. */
function readQuery(schema: TObject, url: string): Record<string, unknown> {
  const separator = url.indexOf('?')
  const text = separator < 0 ? '' : url.slice(separator + 1)
  try {
    decodeURIComponent(text)
  } catch {
    throw invalid('query', '', 'the query is not valid percent-encoded UTF-8')
  }
  const parameters = new URLSearchParams(text)
  const query: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties)) {
    const values = parameters.getAll(name)
    if (values.length > 1) throw invalid('query', `/${name}`, 'appears more than once')
    const value = values[0]
    if (value === undefined) continue
    if (value.includes('\u0000')) throw invalid('query', `/${name}`, 'must not contain U+0000')
    query[name] = property.type === 'integer' && /^(0|[1-9]\d{0,8})$/.test(value) ? Number(value) : value
  }
  return query
}

/** Thrown for bytes that are not the JSON that we accept. `path` is a JSON pointer to the place. */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError'
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

const depthMax = 32
/** Field names by which careless code would change an object's prototype. */
const forbiddenNames: ReadonlySet<string> = new Set(['__proto__'])
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses JSON strictly. Whatever two parsers could read differently is refused: invalid UTF-8, a repeated name,
 * `__proto__`, U+0000, a lone surrogate, a number that a double cannot hold, and nesting deeper than 32.
 * @throws {StrictJsonError}
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const value = parse(text)
  inspect(text)
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new StrictJsonError('', 'the body is not valid UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new StrictJsonError('', 'the body is not valid JSON')
  }
}

/** Finds what JSON.parse hides: names that it merges, and numbers that it rounds. */
function inspect(text: string): void {
  const scopes: Set<string>[] = []
  let depth = 0
  const enter = () => {
    depth += 1
    if (depth > depthMax) throw new StrictJsonError('', `the body is nested deeper than ${depthMax}`)
  }
  visit(text, {
    onObjectBegin() {
      enter()
      scopes.push(new Set())
    },
    onObjectEnd() {
      depth -= 1
      scopes.pop()
    },
    onArrayBegin: enter,
    onArrayEnd() {
      depth -= 1
    },
    onObjectProperty(name, _offset, _length, _line, _character, pathOf) {
      const path = pointer([...pathOf(), name])
      const names = scopes.at(-1)
      if (forbiddenNames.has(name)) throw new StrictJsonError(path, 'this field name is not allowed')
      if (names?.has(name)) throw new StrictJsonError(path, 'the field appears twice')
      names?.add(name)
      refuseUnsafeText(name, path)
    },
    onLiteralValue(value, offset, length, _line, _character, pathOf) {
      if (typeof value === 'string') refuseUnsafeText(value, pointer(pathOf()))
      if (typeof value === 'number' && !isExact(value, text.slice(offset, offset + length))) {
        throw new StrictJsonError(pointer(pathOf()), 'the number cannot be represented exactly')
      }
    },
  })
}

function refuseUnsafeText(text: string, path: string): void {
  if (text.includes('\u0000')) throw new StrictJsonError(path, 'must not contain U+0000')
  if (!text.isWellFormed()) throw new StrictJsonError(path, 'must not contain a lone surrogate')
}

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false
  return !/^-?\d+$/.test(source) || Number.isSafeInteger(value)
}

function pointer(path: readonly (string | number)[]): string {
  return path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
