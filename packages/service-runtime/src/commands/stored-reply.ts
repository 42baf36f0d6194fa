import { type ErrorCode, errorCatalogue, Rejection } from '@backoffice/contracts'

/** What the `operation` table keeps of an answer. */
export type StoredReply =
  | { readonly body: unknown }
  | { readonly error: { readonly code: ErrorCode; readonly details?: Record<string, unknown> } }

export function refusal(rejection: Rejection): StoredReply {
  const { code, details } = rejection
  return { error: { code, ...(details === undefined ? {} : { details }) } }
}

/** A fault that a retry may cure is no answer: it is never stored. */
export function isStorable(error: unknown): error is Rejection {
  return error instanceof Rejection && errorCatalogue[error.code].status < 500
}

/** @throws {Rejection} when the stored reply is a refusal */
export function open(reply: StoredReply): unknown {
  if ('error' in reply) throw new Rejection(reply.error.code, reply.error.details)
  return reply.body
}
