import { type ErrorCode, errorCatalogue, Rejection } from '@backoffice/contracts'
import { isConnectionFault } from '@backoffice/service-runtime'
import type { FastifyReply } from 'fastify'
import { note } from './telemetry.ts'

export const jsonContentType = 'application/json; charset=utf-8'

export interface ErrorOptions {
  readonly requestId: string
  readonly details?: Record<string, unknown> | undefined
}

/** The one envelope of every error. */
export function errorBody(code: ErrorCode, { requestId, details }: ErrorOptions): string {
  const { message } = errorCatalogue[code]
  return JSON.stringify({ error: { code, message, requestId, ...(details === undefined ? {} : { details }) } })
}

/** A refusal that tells the caller when to come back. */
export class RetryLater extends Rejection {
  readonly retryAfterSeconds: number

  constructor(code: ErrorCode, retryAfterSeconds: number) {
    super(code)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** What a client is told to wait after a fault that passes by itself. */
const faultRetryAfterSeconds = 1

/** Seconds for Retry-After, where the code calls for it. */
export function retryAfterOf(rejection: Rejection): number | undefined {
  if (rejection instanceof RetryLater) return rejection.retryAfterSeconds
  return errorCatalogue[rejection.code].status >= 500 ? faultRetryAfterSeconds : undefined
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

/** Anything thrown on the way, as what the client is told: a backend that is away passes, a bug is an INTERNAL_ERROR and says no more. */
export function toRejection(error: unknown): Rejection {
  if (error instanceof Rejection) return error
  const code = frameworkCodes[(error as { code?: string }).code ?? '']
  if (code === 'VALIDATION_ERROR') {
    return new Rejection(code, {
      in: 'body',
      issues: [{ path: '', message: 'the body is not as long as Content-Length says' }],
    })
  }
  if (code !== undefined) return new Rejection(code)
  return Object.assign(new Rejection(isConnectionFault(error) ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR'), {
    cause: error,
  })
}

export function sendRejection(reply: FastifyReply, rejection: Rejection, requestId: string): FastifyReply {
  note(reply.request, { code: rejection.code })
  const retryAfter = retryAfterOf(rejection)
  if (retryAfter !== undefined) reply.header('Retry-After', String(retryAfter))
  return reply
    .code(errorCatalogue[rejection.code].status)
    .header('Content-Type', jsonContentType)
    .send(errorBody(rejection.code, { requestId, details: rejection.details }))
}
