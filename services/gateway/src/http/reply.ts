import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import {
  type ErrorCode,
  errorCatalogue,
  invalid,
  type Operation,
  Rejection,
  type RejectionArguments,
} from '@backoffice/contracts'
import { meter, newId } from '@backoffice/process'
import { isPassingFault } from '@backoffice/service-runtime'
import type { FastifyError, FastifyReply } from 'fastify'
import type { StoredResponse } from '../claims/claim.ts'
import { type ErrorWords, wordsForOperators } from './surface.ts'

/** The content type of nearly every reply. */
export const jsonContentType = 'application/json; charset=utf-8'

/** What a client is sent. */
export interface HttpReply extends StoredResponse {
  /** Of a refusal. */
  readonly code?: ErrorCode
  readonly retryAfterSeconds?: number
  /** It was sent before, under the same Idempotency-Key. */
  readonly isReplay?: true
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

/** How long a client should wait after what passes by itself: a fault, or a service that has enough of the caller's requests. */
const passingRetryAfterSeconds = 1

export const isFault = ({ code }: Rejection): boolean => errorCatalogue[code].status >= 500

export function replyOfRejection(
  rejection: Rejection,
  requestId: string,
  words: ErrorWords = wordsForOperators,
): HttpReply {
  const { code, details } = rejection
  const reply = {
    status: words.entryOf(code).status,
    contentType: jsonContentType,
    body: Buffer.from(errorBody(code, { requestId, details }, words)),
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

interface ErrorOptions {
  readonly requestId: string
  readonly details?: Record<string, unknown> | undefined
}

/** The one envelope of every error. */
function errorBody(code: ErrorCode, { requestId, details }: ErrorOptions, { entryOf }: ErrorWords): string {
  const { message, retry } = entryOf(code)
  const told = retry === undefined ? details : { ...details, retry }
  return JSON.stringify({ error: { code, message, requestId, ...(told === undefined ? {} : { details: told }) } })
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
export function toRejection(error: unknown, { knows }: ErrorWords = wordsForOperators): Rejection {
  if (error instanceof Rejection && knows(error.code)) return error
  const refusal = frameworkRefusal(error as Partial<FastifyError>)
  if (refusal !== null) return refusal
  return new Rejection(isPassingFault(error) ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR', undefined, { cause: error })
}

/** Whole seconds for Retry-After: rounded up, so that nobody comes back too early, and at least one. */
export function retryAfterSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}

const replays = meter.createCounter('backoffice.idempotency.replays', {
  description: 'Requests that got the stored reply of their Idempotency-Key',
})

export function countReplay(operation: Operation): void {
  replays.add(1, { operation: operation.id })
}

/**
 * On every response. Replies hold balances, persons and links to games, so nobody keeps them, and no browser guesses
 * what they are. Documents replace Cache-Control.
 */
export const safetyHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const

const clientErrorCodes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
}

/** The envelope of a 400: what is wrong is the HTTP of the request, and not yet anything that it says. */
const badRequestBody = (message: string, requestId: string, words: ErrorWords): string =>
  errorBody('VALIDATION_ERROR', { requestId, details: { in: 'headers', issues: [{ path: '', message }] } }, words)

export function sendBadRequest(reply: FastifyReply, message: string, words: ErrorWords): void {
  reply.request.refusedWith = 'VALIDATION_ERROR'
  const { VALIDATION_ERROR: help } = words.helpLinks
  if (help !== undefined) reply.header('Link', help)
  reply.code(400).headers({ Connection: 'close', 'Content-Type': jsonContentType })
  void reply.send(badRequestBody(message, reply.request.id, words))
}

/** Is told of bytes that are no request. */
export type Unread = (requestId: string, status: number, code: ErrorCode, address: string) => void

/** How a server words what it refuses, and whom it tells of bytes that are no request. */
export interface RefusalTerms {
  readonly words: ErrorWords
  readonly unread: Unread | undefined
}

/** Replies to bytes that are no HTTP request. Node by itself would reply with an empty body. */
export function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket, terms: RefusalTerms): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  refuseOutside(socket, clientErrorCodes[error.code ?? ''], terms)
}

/** Replies where there is no request that the framework knows of, and closes the connection. */
export function refuseOutside(socket: Socket, known: ErrorCode | undefined, { words, unread }: RefusalTerms): void {
  const requestId = newId('req')
  const status = known === undefined ? 400 : words.entryOf(known).status
  unread?.(requestId, status, known ?? 'VALIDATION_ERROR', socket.remoteAddress ?? '')
  const body =
    known === undefined
      ? badRequestBody('the bytes received are not an HTTP/1.1 request', requestId, words)
      : errorBody(known, { requestId }, words)
  const help = words.helpLinks[known ?? 'VALIDATION_ERROR']
  socket.write(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${jsonContentType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...(help === undefined ? [] : [`Link: ${help}`]),
      ...Object.entries(safetyHeaders).map(([name, value]) => `${name}: ${value}`),
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  socket.destroySoon()
}
