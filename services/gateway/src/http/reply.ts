import { type ErrorCode, errorCatalogue, invalid, Rejection } from '@backoffice/contracts'
import { isPassingFault } from '@backoffice/service-runtime'
import type { FastifyReply } from 'fastify'
import type { StoredResponse } from '../domain/claim.ts'
import { labelRequest } from './telemetry.ts'

export const jsonContentType = 'application/json; charset=utf-8'

/** What a client is sent. */
export interface HttpReply extends StoredResponse {
  /** Of a refusal. */
  readonly code?: ErrorCode
  readonly retryAfterSeconds?: number
}

/** A refusal that says when to come back. */
export class RetryLater extends Rejection {
  readonly retryAfterSeconds: number

  constructor(code: ErrorCode, retryAfterSeconds: number) {
    super(code)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** What a client is told to wait after a fault that passes by itself. */
const faultRetryAfterSeconds = 1

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
  return isFault(rejection) ? { ...reply, retryAfterSeconds: faultRetryAfterSeconds } : reply
}

/** A stored reply as it was sent the first time. */
export function replyOfStored(stored: StoredResponse): HttpReply {
  if (stored.status < 400) return stored
  const { error } = JSON.parse(stored.body.toString()) as { error: { code: ErrorCode } }
  return { ...stored, code: error.code }
}

/** Its id is in X-Request-Id too: a replay carries the first request's, so that the one in its body still matches. */
export function sendReply(
  reply: FastifyReply,
  { status, contentType, body, requestId, ...rest }: HttpReply,
): FastifyReply {
  const { code, retryAfterSeconds } = rest
  if (code !== undefined) labelRequest(reply.request, { code })
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds))
  // As text, Node writes head and body at once. The bytes are UTF-8, so they stay as they are.
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

/** Framework errors that a client's bytes can cause, by Fastify's code. */
const frameworkCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'VALIDATION_ERROR',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_BAD_URL: 'NOT_FOUND',
  FST_ERR_MAX_PARAM_LENGTH: 'NOT_FOUND',
  FST_ERR_NOT_FOUND: 'NOT_FOUND',
}

/**
 * Anything thrown on the way, as what the client is told: a backend that is away passes, a bug is an INTERNAL_ERROR and
 * says no more.
 */
export function toRejection(error: unknown): Rejection {
  if (error instanceof Rejection) return error
  const code = frameworkCodes[(error as { code?: string }).code ?? '']
  if (code === 'VALIDATION_ERROR') return invalid('body', '', 'the body is not as long as Content-Length says')
  if (code !== undefined) return new Rejection(code)
  return new Rejection(isPassingFault(error) ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR', undefined, { cause: error })
}
