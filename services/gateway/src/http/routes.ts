import { MIMEType } from 'node:util'
import {
  audiences,
  invalid,
  type Operation,
  type operations,
  Rejection,
  type ValidationDetails,
} from '@backoffice/contracts'
import { type RpcClient, validate } from '@backoffice/rpc'
import type { TObject } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { visit } from 'jsonc-parser'
import type { KnownCredential } from '../operators/records.ts'
import { showMe } from '../operators/views.ts'
import { type Access, type Caller, header, rawBody } from './authenticate.ts'
import { type Run, type Serving, serveEachTime, serveOnce } from './idempotency.ts'
import { type HttpReply, jsonContentType, SignatureUsed } from './reply.ts'
import type { SecurityLog } from './security-log.ts'
import { type Surface, wordsForOperators } from './surface.ts'

export interface RouteContext extends Serving {
  readonly surface: Surface
  /** Finds out who sends a request, and whether their limits admit it. @throws {Rejection} of the audience's `admission` */
  readonly identify: (request: FastifyRequest, operation: Operation) => Promise<Caller>
  readonly securityLog: Pick<SecurityLog, 'refused'>
  readonly rpc: Pick<RpcClient, 'request'>
  /** Stands around the run of each operation. */
  readonly around?: (
    access: Access,
    input: Readonly<Record<string, unknown>>,
    run: () => Promise<Buffer>,
  ) => Promise<Buffer>
}

const pathOf = (prefix: string, path: string): string => (prefix + path).replaceAll(/\{(\w+)\}/g, ':$1')

/** Every authenticated route of a surface, from the operation table. */
export function operationRoutes(context: RouteContext): RouteOptions[] {
  const { operations: served, prefix } = context.surface
  return served.flatMap((operation) => {
    const { http, idempotency, id } = operation
    if (http === undefined) return []
    const serve = idempotency === 'required' ? serveOnce : serveEachTime
    return {
      method: http.method,
      url: pathOf(prefix, http.path),
      config: { operation: id },
      async handler(request, reply) {
        if (operation.deprecated !== undefined) reply.headers(noticeOf(operation.deprecated))
        const access = { operation, request, ...(await context.identify(request, operation)) }
        request.access = access
        admit(access)
        try {
          const run: Run = (effect) => runOperation(access, context, effect)
          return sendReply(reply, await serve(access, context, run), context.surface.words)
        } catch (error) {
          if (error instanceof SignatureUsed) noteUsedSignature(access, context)
          throw error
        }
      },
    }
  })
}

/** RFC 9745 and RFC 8594. */
const noticeOf = ({ since, sunset }: NonNullable<Operation['deprecated']>) => ({
  Deprecation: `@${Date.parse(since) / 1000}`,
  Sunset: new Date(sunset).toUTCString(),
})

/** Either a client sent two equal requests within a second, or somebody captured one and sends it again. */
function noteUsedSignature({ request, address, credential }: Access, { securityLog }: RouteContext): void {
  const { key, scope } = credential
  const holder = { operatorId: scope.operatorId, environment: scope.environment }
  securityLog.refused({ request, address, holder, code: 'IDEMPOTENCY_CONFLICT', key })
}

/**
 * The checks after those of the sender, in their fixed order. Fastify has made the checks before these.
 * @throws {Rejection} SANDBOX_ONLY, UNSUPPORTED_MEDIA_TYPE
 */
function admit({ operation, request, credential }: Access): void {
  const { onlyIn = credential.scope.environment } = audiences[operation.audience]
  if (credential.scope.environment !== onlyIn) throw new Rejection('SANDBOX_ONLY')
  if (operation.hasBody) requireJson(request)
}

/**
 * Runs the operation in its service. The reply is passed on as the bytes that the service wrote.
 * @throws {Rejection} VALIDATION_ERROR, and what the service refuses with
 */
async function runOperation(
  access: Access,
  { rpc, around = (_access, _input, run) => run() }: RouteContext,
  effect: Parameters<Run>[0],
): Promise<HttpReply> {
  const { operation, request, credential } = access
  const input = readInput(operation, request)
  const { scope } = credential
  const requestId = request.id
  const body =
    operation.service === 'gateway'
      ? replyHere(operation.id as OwnOperation, request.sender as KnownCredential)
      : await around(access, input, () =>
          rpc.request(operation, { scope, input: input as never, requestId, ...effect }),
        )
  return { status: operation.http?.status ?? 200, contentType: jsonContentType, body, requestId }
}

type GatewayOperation = (typeof operations)['gateway'][keyof (typeof operations)['gateway']]
type OwnOperation = Extract<GatewayOperation, { readonly audience: 'operator' | 'sandbox' }>['id']

/** The replies that need no other service. */
const ownReplies: Readonly<Record<OwnOperation, (credential: KnownCredential) => unknown>> = { getMe: showMe }

const replyHere = (id: OwnOperation, credential: KnownCredential): Buffer =>
  Buffer.from(JSON.stringify(ownReplies[id](credential)))

/**
 * Sets X-Request-Id to the reply's own request id. A replay has that of the first request, so that the id in its body
 * still matches.
 */
export function sendReply(
  reply: FastifyReply,
  { status, contentType, body, requestId, ...rest }: HttpReply,
  { helpLinks } = wordsForOperators,
): FastifyReply {
  const { code, retryAfterSeconds, isReplay } = rest
  reply.request.refusedWith = code
  if (code !== undefined && helpLinks[code] !== undefined) reply.header('Link', helpLinks[code])
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds))
  if (isReplay) reply.header('Idempotent-Replayed', 'true')
  // Node writes head and body at once if the body is text. The bytes are UTF-8, so they stay the same.
  return reply.code(status).header('Content-Type', contentType).header('X-Request-Id', requestId).send(body.toString())
}

/** Parameters say nothing about JSON (RFC 8259, 11), but for one that names other bytes. */
function isJson(contentType: string): boolean {
  try {
    const { essence, params } = new MIMEType(contentType)
    return essence === 'application/json' && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8')
  } catch {
    return false
  }
}

/**
 * @throws {Rejection} UNSUPPORTED_MEDIA_TYPE when there is a body whose media type is not JSON, or whose bytes mean others:
 *   we would take what is compressed for what was meant
 */
function requireJson(request: FastifyRequest): void {
  if (rawBody(request).length === 0) return
  const [encoding = 'identity', coding = 'chunked'] = ['content-encoding', 'transfer-encoding'].map(
    (name) => header(request, name)?.trim().toLowerCase() || undefined,
  )
  const isPlain = encoding === 'identity' && coding === 'chunked'
  if (!isPlain || !isJson(header(request, 'content-type') ?? '')) throw new Rejection('UNSUPPORTED_MEDIA_TYPE')
}

/**
 * Params, query and body of a request as the one object that the service sees. Nothing is converted except integers of
 * the query, which always arrive as text.
 * @throws {Rejection} VALIDATION_ERROR, for the first of path, query and body that is not valid, with all of its
 *   issues
 */
export function readInput(operation: Operation, request: FastifyRequest): Record<string, unknown> {
  const params = knownFields(operation.params, request.params as Record<string, unknown>)
  check('path', operation.params, params)
  const query = readQuery(operation.query, request.raw.url ?? '')
  check('query', operation.query, query)
  const body = operation.hasBody ? readBody(rawBody(request)) : {}
  if (operation.hasBody) check('body', operation.body, body)
  return { ...params, ...query, ...knownFields(operation.body, body as Record<string, unknown>) }
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
function knownFields(schema: TObject, body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(schema.properties, name)))
}

/** The parameters that the operation names. A repeated parameter is refused, because its meaning would be a guess. */
function readQuery(schema: TObject, url: string): Record<string, unknown> {
  const separator = url.indexOf('?')
  if (separator < 0) return {}
  const text = url.slice(separator + 1)
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
      // Each field of each request passes here, so that its path is made for a fault alone.
      const path = () => pointer([...pathOf(), name])
      const names = scopes.at(-1)
      if (forbiddenNames.has(name)) throw new StrictJsonError(path(), 'this field name is not allowed')
      if (names?.has(name)) throw new StrictJsonError(path(), 'the field appears twice')
      names?.add(name)
      refuseUnsafeText(name, path)
    },
    onLiteralValue(value, offset, length, _line, _character, pathOf) {
      if (typeof value === 'string') refuseUnsafeText(value, () => pointer(pathOf()))
      if (typeof value === 'number' && !isExact(value, text.slice(offset, offset + length))) {
        throw new StrictJsonError(pointer(pathOf()), 'the number cannot be represented exactly')
      }
    },
  })
}

function refuseUnsafeText(text: string, path: () => string): void {
  if (text.includes('\u0000')) throw new StrictJsonError(path(), 'must not contain U+0000')
  if (!text.isWellFormed()) throw new StrictJsonError(path(), 'must not contain a lone surrogate')
}

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false
  return !/^-?\d+$/.test(source) || Number.isSafeInteger(value)
}

function pointer(path: readonly (string | number)[]): string {
  return path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
