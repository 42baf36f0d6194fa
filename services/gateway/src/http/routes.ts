import {
  apiPrefix,
  httpOperations,
  invalid,
  type Operation,
  type operations,
  Rejection,
  type ValidationDetails,
} from '@backoffice/contracts'
import { type CallOptions, type RpcClient, validate } from '@backoffice/rpc'
import type { TObject } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { visit } from 'jsonc-parser'
import type { KnownCredential } from '../operators/records.ts'
import { showMe } from '../operators/views.ts'
import { type AuthenticationContext, authenticate, type Caller, rawBody, requireJson } from './authenticate.ts'
import { type Idempotency, keyClaimOf } from './idempotency.ts'
import type { DailyUse } from './limits.ts'
import {
  countReplay,
  type HttpReply,
  isFault,
  jsonContentType,
  replyOfRejection,
  SignatureUsed,
  sendReply,
  toRejection,
} from './reply.ts'

export interface RouteContext {
  readonly authentication: AuthenticationContext
  readonly idempotency: Pick<Idempotency, 'hasBegun' | 'claim' | 'useOnce' | 'storeReply' | 'releaseClaim'>
  readonly dailyUse: Pick<DailyUse, 'refusalOf' | 'begun' | 'ended'>
  readonly rpc: Pick<RpcClient, 'request'>
}

/** Every authenticated route, from the operation table. */
export function operationRoutes(context: RouteContext): RouteOptions[] {
  return httpOperations.flatMap((operation) => {
    const { http, audience, idempotency, id } = operation
    if (http === undefined || audience === 'public') return []
    const serve = idempotency === 'required' ? serveOnce : serveEachTime
    return {
      method: http.method,
      url: apiPrefix + http.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { operation: id },
      async handler(request, reply) {
        if (operation.deprecated !== undefined) reply.headers(noticeOf(operation.deprecated))
        const caller = await admit(operation, request, context.authentication)
        try {
          return await serve({ operation, request, ...caller }, reply, context)
        } catch (error) {
          if (error instanceof SignatureUsed) noteUsedSignature(request, caller, context)
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

/** A request whose sender is known and may call the operation. */
interface AdmittedRequest extends Caller {
  readonly operation: Operation
  readonly request: FastifyRequest
}

/** Either a client sent two equal requests within a second, or somebody captured one and sends it again. */
function noteUsedSignature(
  request: FastifyRequest,
  { credential, address }: Caller,
  { authentication: { securityLog } }: RouteContext,
): void {
  securityLog.refused({ code: 'IDEMPOTENCY_CONFLICT', key: credential.key, credential, address, request })
}

/** The checks in their fixed order, from the signature to the media type. Fastify has made the checks before these. */
async function admit(
  operation: Operation,
  request: FastifyRequest,
  authentication: AuthenticationContext,
): Promise<Caller> {
  const caller = await authenticate(request, authentication)
  const { environment } = caller.credential.scope
  authentication.securityLog.admitted(request, { operation, ...caller })
  request.environment = environment
  if (operation.audience === 'sandbox' && environment !== 'sandbox') throw new Rejection('SANDBOX_ONLY')
  if (operation.hasBody) requireJson(request)
  return caller
}

async function serveEachTime(
  admitted: AdmittedRequest,
  reply: FastifyReply,
  { idempotency, dailyUse, rpc }: RouteContext,
): Promise<FastifyReply> {
  const { operation, request, credential } = admitted
  if (operation.stores !== undefined) {
    const refusal = dailyUse.refusalOf(admitted)
    if (refusal !== null) throw refusal
    dailyUse.begun(admitted)
  }
  if (credential.replayProtection && operation.http?.method !== 'GET')
    await idempotency.useOnce(credential.scope, request)
  return sendReply(reply, await runOperation(admitted, rpc))
}

/** Claims the key, runs the operation, and stores the reply for retries. */
async function serveOnce(
  admitted: AdmittedRequest,
  reply: FastifyReply,
  { idempotency, dailyUse, rpc }: RouteContext,
): Promise<FastifyReply> {
  const { operation, request, credential } = admitted
  const refusal = dailyUse.refusalOf(admitted)
  if (refusal !== null && !(await idempotency.hasBegun(credential.scope, request))) throw refusal
  const claimed = await idempotency.claim(operation, credential, request)
  if (claimed.is === 'replay') {
    countReplay(operation)
    return sendReply(reply.header('Idempotent-Replayed', 'true'), claimed.reply)
  }
  const { claim } = claimed
  dailyUse.begun(admitted)
  const outcome = await outcomeOf(
    runOperation(admitted, rpc, { operationId: claim.operationId, key: keyClaimOf(claim) }),
    request,
  )
  dailyUse.ended(admitted, outcome.is === 'known' ? outcome.reply : undefined)
  if (outcome.is === 'unknown') {
    await idempotency.releaseClaim(claim)
    throw outcome.rejection
  }
  return sendReply(reply, await idempotency.storeReply(claim, outcome.reply))
}

/**
 * The outcome of an operation. A refusal is a reply too. After a fault, only a retry can tell whether the effect
 * happened.
 */
type ServedOutcome =
  | { readonly is: 'known'; readonly reply: HttpReply }
  | { readonly is: 'unknown'; readonly rejection: Rejection }

async function outcomeOf(running: Promise<HttpReply>, request: FastifyRequest): Promise<ServedOutcome> {
  try {
    return { is: 'known', reply: await running }
  } catch (error) {
    const rejection = toRejection(error)
    if (isFault(rejection)) return { is: 'unknown', rejection }
    return { is: 'known', reply: replyOfRejection(rejection, request.id) }
  }
}

/**
 * Runs the operation in its service. The reply is passed on as the bytes that the service wrote.
 * @throws {Rejection} VALIDATION_ERROR, and what the service refuses with
 */
async function runOperation(
  { operation, request, credential }: AdmittedRequest,
  rpc: RouteContext['rpc'],
  effect: Pick<CallOptions<Operation>, 'operationId' | 'key'> = {},
): Promise<HttpReply> {
  const input = readInput(operation, request) as never
  const { scope } = credential
  const requestId = request.id
  const body =
    operation.service === 'gateway'
      ? replyHere(operation.id as OwnOperation, credential)
      : await rpc.request(operation, { scope, input, requestId, ...effect })
  return { status: operation.http?.status ?? 200, contentType: jsonContentType, body, requestId }
}

type GatewayOperation = (typeof operations)['gateway'][keyof (typeof operations)['gateway']]
type OwnOperation = Extract<GatewayOperation, { readonly audience: 'operator' | 'sandbox' }>['id']

/** The replies that need no other service. */
const ownReplies: Readonly<Record<OwnOperation, (credential: KnownCredential) => unknown>> = { getMe: showMe }

const replyHere = (id: OwnOperation, credential: KnownCredential): Buffer =>
  Buffer.from(JSON.stringify(ownReplies[id](credential)))

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
