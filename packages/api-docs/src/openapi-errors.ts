import { commonRejects, type ErrorCode, errorAnchor, errorCatalogue, type Operation } from '@backoffice/contracts'
import type { JsonSchema, SchemaComponents } from './field-tables.ts'
import { errorOf, type Surface } from './surface.ts'

/** Every response carries it. */
export const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }

/** Of whatever is stored under an Idempotency-Key: a success, or a refusal that came after the key was claimed. */
export const replayedHeader = { 'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' } }

/** What is inside the envelope of every error: `code` and `details` differ. */
const errorObject = (code: JsonSchema, details: JsonSchema | undefined, always = false): JsonSchema => ({
  type: 'object',
  required: ['code', 'message', 'requestId', ...(always ? ['details'] : [])],
  properties: {
    code,
    message: { type: 'string', maxLength: 1000, description: 'For people; may change.' },
    requestId: { type: 'string', maxLength: 64, description: 'The same as X-Request-Id.' },
    ...(details === undefined ? {} : { details }),
  },
  additionalProperties: true,
})

const envelope = (error: JsonSchema): JsonSchema => ({
  type: 'object',
  required: ['error'],
  properties: { error },
  additionalProperties: true,
})

/** The list of all error codes, and the envelope of any of them: of a path that is no operation's, for example. */
export function addErrorSchemas(components: SchemaComponents, { errors }: Surface): void {
  const code = components.add('ErrorCode', () => ({
    type: 'string',
    description: 'Stable: branch on it. New rules and operations may bring new codes.',
    enum: [...errors.keys()],
  }))
  const details = {
    type: 'object',
    description: 'Depends on the code.',
    additionalProperties: true,
  }
  // Not `Error`: a generated type of that name would hide JavaScript's own.
  components.add('ErrorReply', () => envelope(errorObject(code, details)))
}

/** PLAYER_NOT_FOUND → PlayerNotFound */
const inOneWord = (code: ErrorCode): string =>
  code
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('')

/** PLAYER_NOT_FOUND → PlayerNotFoundError */
const errorSchemaName = (code: ErrorCode): string => `${inOneWord(code).replace(/Error$/, '')}Error`

/**
 * Replies may gain fields at any time. The schemas of the contracts are closed, so that a test finds a field that nobody
 * wrote down; what is published of them is open.
 */
const open = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (key, value) => (key === 'additionalProperties' ? true : value))

/** The error with this code, as the envelope holds it. */
function errorSchema(code: ErrorCode, components: SchemaComponents, surface: Surface): { readonly $ref: string } {
  return components.add(errorSchemaName(code), () => {
    const { cause, cure, details } = errorOf(surface, code)
    const published = details === undefined ? undefined : open(components.publish(details.schema))
    return {
      description: `Cause: ${cause}\n\nCure: ${cure}`,
      ...errorObject({ type: 'string', enum: [code] }, published, details?.always),
    }
  })
}

/** One of these errors. `code` tells which, and so which details it has. */
function errorUnion(codes: readonly ErrorCode[], components: SchemaComponents, surface: Surface): JsonSchema {
  const members = codes.map((code) => [code, errorSchema(code, components, surface)] as const)
  const [first] = members
  if (members.length === 1 && first !== undefined) return first[1]
  const mapping = Object.fromEntries(members.map(([code, { $ref }]) => [code, $ref]))
  return { oneOf: members.map(([, schema]) => schema), discriminator: { propertyName: 'code', mapping } }
}

/** One response per status. Its schema and examples name each code that it may carry. */
export function errorResponses(
  operation: Operation,
  components: SchemaComponents,
  surface: Surface,
): Record<string, JsonSchema> {
  const codes = [...new Set([...commonRejects(operation), ...operation.rejects])]
  const byStatus = Map.groupBy(codes, (code) => errorCatalogue[code].status)
  // What is wrong with the HTTP of a request, whatever it asks for.
  byStatus.set(400, [...(byStatus.get(400) ?? []), 'VALIDATION_ERROR'])
  const stored = new Set(storedRefusals(operation).map((code) => errorCatalogue[code].status))
  const sorted = [...byStatus].sort(([a], [b]) => a - b)
  return Object.fromEntries(
    sorted.map(([status, entries]) => {
      const headers = stored.has(status) ? replayedHeader : {}
      return [String(status), errorResponse(status, entries, { headers, components, surface })]
    }),
  )
}

/** What is stored under the key and answered again: refusals of the operation itself and of its input, and no faults. */
const storedRefusals = ({ idempotency, rejects }: Operation): readonly ErrorCode[] =>
  idempotency === 'required' ? ['VALIDATION_ERROR', ...rejects.filter((code) => errorCatalogue[code].status < 500)] : []

/** A response with more codes is one operation's own, and its name would be a list. */
const namedCodesMax = 3

const statusesWithRetryAfter: ReadonlySet<number> = new Set([409, 429, 500, 502, 503])

interface Responses {
  readonly headers: JsonSchema
  readonly components: SchemaComponents
  readonly surface: Surface
}

function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  { headers, components, surface }: Responses,
): JsonSchema {
  const response = {
    description: codes.map((code) => `\`${code}\`: ${errorOf(surface, code).message}`).join('\n\n'),
    headers: {
      ...requestIdHeader,
      ...headers,
      Link: { $ref: '#/components/headers/Link' },
      ...(statusesWithRetryAfter.has(status) ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } : {}),
    },
    content: {
      'application/json': {
        schema: envelope(errorUnion(codes, components, surface)),
        examples: Object.fromEntries(codes.map((code) => [code, errorExample(code, components, surface)])),
      },
    },
  }
  if (codes.length > namedCodesMax) return response
  const name = `${codes.map(inOneWord).join('Or')}${headers === replayedHeader ? 'MaybeReplayed' : ''}`
  components.responses[name] ??= response
  return { $ref: `#/components/responses/${name}` }
}

function errorExample(code: ErrorCode, components: SchemaComponents, surface: Surface): JsonSchema {
  const { message, details: entry } = errorOf(surface, code)
  const details = entry?.example === undefined ? {} : { details: entry.example }
  const requestId = 'req_01kaj6p3e8fqkv3m0v2n8w4d6s'
  components.examples[code] ??= { summary: code, value: { error: { code, message, requestId, ...details } } }
  return { $ref: `#/components/examples/${code}` }
}

/** Where the documentation explains an error, as each error's own header says it. */
export const helpLink = ({ docsPath }: Surface): JsonSchema => ({
  description: 'Where the documentation explains the error (RFC 8288); relative to the address that you called.',
  schema: { type: 'string', maxLength: 200 },
  example: `<${docsPath}#${errorAnchor('PLAYER_NOT_FOUND')}>; rel="help"`,
})
