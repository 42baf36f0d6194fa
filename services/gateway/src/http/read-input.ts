import { invalid, type Operation, Rejection, type ValidationDetails } from '@backoffice/contracts'
import { validate } from '@backoffice/service-runtime'
import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { rawBody } from './request.ts'
import { parseStrictJson, StrictJsonError } from './strict-json.ts'

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
