import {
  apiPrefix,
  type Environment,
  type ErrorCode,
  errorAnchor,
  errorCatalogue,
  invalid,
  type Operation,
  publicErrorCodes,
  Rejection,
  type RejectionArguments,
} from '@backoffice/contracts'
import { durations, meter } from '@backoffice/process'
import { isPassingFault } from '@backoffice/service-runtime'
import { trace } from '@opentelemetry/api'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { StoredResponse } from '../claims/claim.ts'

/** The content type of nearly every reply. */
export const jsonContentType = 'application/json; charset=utf-8'

/** What a client is sent. */
export interface HttpReply extends StoredResponse {
  /** Of a refusal. */
  readonly code?: ErrorCode
  readonly retryAfterSeconds?: number
}

/** A refusal that says when to try again. */
export class RetryLater extends Rejection {
  readonly retryAfterSeconds: number

  constructor(retryAfterSeconds: number, ...refusal: RejectionArguments) {
    super(...refusal)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/**
 * The request's signature was accepted before, for another request. Who holds the secret may sign anew a second later;
 * who only captured a request may not.
 */
export class SignatureUsed extends RetryLater {
  constructor() {
    super(1, 'IDEMPOTENCY_CONFLICT', { signature: 'used' })
  }
}

/**
 * The header of each error that says where the documentation explains it (RFC 8288). It is relative: only the client knows
 * by which address it reaches us.
 */
export const helpLinks: Readonly<Record<string, string>> = Object.fromEntries(
  publicErrorCodes.map((code) => [code, `<${apiPrefix}/docs#${errorAnchor(code)}>; rel="help"`]),
)

/** How long a client should wait after what passes by itself: a fault, or a service that has enough of the caller's requests. */
const passingRetryAfterSeconds = 1

export const isFault = ({ code }: Rejection): boolean => errorCatalogue[code].status >= 500

export function replyOfRejection(rejection: Rejection, requestId: string): HttpReply {
  const { code, details } = rejection
  const reply = {
    status: errorCatalogue[code].status,
    contentType: jsonContentType,
    body: Buffer.from(errorBody(code, { requestId, details })),
    requestId,
    code,
  }
  if (rejection instanceof RetryLater) return { ...reply, retryAfterSeconds: rejection.retryAfterSeconds }
  const passes = isFault(rejection) || code === 'RATE_LIMITED'
  return passes ? { ...reply, retryAfterSeconds: passingRetryAfterSeconds } : reply
}

/** A stored reply as it was sent the first time. */
export function replyOfStored(stored: StoredResponse): HttpReply {
  if (stored.status < 400) return stored
  const { error } = JSON.parse(stored.body.toString()) as { error: { code: ErrorCode } }
  return { ...stored, code: error.code }
}

/**
 * Sets X-Request-Id to the reply's own request id. A replay has that of the first request, so that the id in its body
 * still matches.
 */
export function sendReply(
  reply: FastifyReply,
  { status, contentType, body, requestId, ...rest }: HttpReply,
): FastifyReply {
  const { code, retryAfterSeconds } = rest
  reply.request.refusedWith = code
  if (code !== undefined) reply.header('Link', helpLinks[code])
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds))
  // Node writes head and body at once if the body is text. The bytes are UTF-8, so they stay the same.
  return reply.code(status).header('Content-Type', contentType).header('X-Request-Id', requestId).send(body.toString())
}

export const sendRejection = (reply: FastifyReply, rejection: Rejection): FastifyReply =>
  sendReply(reply, replyOfRejection(rejection, reply.request.id))

export interface ErrorOptions {
  readonly requestId: string
  readonly details?: Record<string, unknown> | undefined
}

/** The one envelope of every error. */
export function errorBody(code: ErrorCode, { requestId, details }: ErrorOptions): string {
  const { message } = errorCatalogue[code]
  return JSON.stringify({ error: { code, message, requestId, ...(details === undefined ? {} : { details }) } })
}

/** Fastify's errors whose status says less than we know, by their codes. */
const frameworkRefusals: Readonly<Record<string, () => Rejection>> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => invalid('body', '', 'the body is not as long as Content-Length says'),
  FST_ERR_BAD_URL: () => new Rejection('NOT_FOUND'),
  FST_ERR_MAX_PARAM_LENGTH: () => new Rejection('NOT_FOUND'),
}

const codesByStatus = {
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  431: 'HEADERS_TOO_LARGE',
} as const

type ErrorOfStatus = (typeof codesByStatus)[keyof typeof codesByStatus]

/** @returns null for an error that is not the framework's, or is our fault: those of the client have a status below 500. */
function frameworkRefusal({ code = '', statusCode = 500, message = '' }: Partial<FastifyError>): Rejection | null {
  if (!code.startsWith('FST_ERR_') || statusCode >= 500) return null
  const known = codesByStatus[statusCode as keyof typeof codesByStatus] as ErrorOfStatus | undefined
  return frameworkRefusals[code]?.() ?? (known === undefined ? invalid('headers', '', message) : new Rejection(known))
}

/**
 * Turns anything that was thrown into what the client is told. An unavailable backend is SERVICE_UNAVAILABLE; a bug is
 * INTERNAL_ERROR without details.
 */
export function toRejection(error: unknown): Rejection {
  if (error instanceof Rejection) return error
  const refusal = frameworkRefusal(error as Partial<FastifyError>)
  if (refusal !== null) return refusal
  return new Rejection(isPassingFault(error) ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR', undefined, { cause: error })
}

/** Whole seconds for Retry-After: rounded up, so that nobody comes back too early, and at least one. */
export function retryAfterSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The id of the operation that a route serves. */
    operation?: string
  }
  interface FastifyRequest {
    /** The code of the reply's error, once it is known. */
    refusedWith: ErrorCode | undefined
    /** Of the credential, once it is verified. */
    environment: Environment | undefined
  }
}

const duration = durations(
  'backoffice.request.duration_seconds',
  'Time from an HTTP request to its reply, by its outcome',
)
const replays = meter.createCounter('backoffice.idempotency.replays', {
  description: 'Requests that got the stored reply of their Idempotency-Key',
})

export function countReplay(operation: Operation): void {
  replays.add(1, { operation: operation.id })
}

/** Measures every request by operation, code and environment, and names its span after the route. */
export function measureRequests(app: FastifyInstance): void {
  app.decorateRequest('refusedWith').decorateRequest('environment')
  app.addHook('onRequest', (request, _reply, done) => {
    nameSpan(request)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { refusedWith: code = 'ok', environment = 'none' } = request
    const operation = request.routeOptions.config.operation ?? 'none'
    duration.record(reply.elapsedTime / 1_000, { operation, code, environment })
    done()
  })
}

function nameSpan(request: FastifyRequest): void {
  const span = trace.getActiveSpan()
  if (span === undefined) return
  const { method, routeOptions } = request
  const { url } = routeOptions
  if (url === undefined) return
  span.updateName(`${method} ${url}`)
  span.setAttribute('http.route', url)
}
