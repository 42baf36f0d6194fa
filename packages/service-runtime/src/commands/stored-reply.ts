import { type ErrorCode, errorCatalogue, type Operation, Rejection } from '@backoffice/contracts'

/** What the `operation` table keeps of an answer. */
export type StoredReply =
  | { readonly body: unknown }
  | { readonly error: { readonly code: ErrorCode; readonly details?: Record<string, unknown> } }

export function refusal(rejection: Rejection): StoredReply {
  const { code, details } = rejection
  return { error: { code, ...(details === undefined ? {} : { details }) } }
}

/** A code that the operation does not declare is a bug of the service, not an answer. */
export function isDeclared(operation: Operation, code: ErrorCode): boolean {
  return code === 'VALIDATION_ERROR' || errorCatalogue[code].status >= 500 || operation.rejects.includes(code)
}

/** What a retry or a repaired service may cure is no answer: it is never stored. */
export function isStorable(operation: Operation, error: unknown): error is Rejection {
  return error instanceof Rejection && errorCatalogue[error.code].status < 500 && isDeclared(operation, error.code)
}

/** @throws {Rejection} when the stored reply is a refusal */
export function open(reply: StoredReply): unknown {
  if ('error' in reply) throw new Rejection(reply.error.code, reply.error.details)
  return reply.body
}
