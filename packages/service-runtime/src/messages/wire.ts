import type { ErrorCode, Scope } from '@backoffice/contracts'

export interface RequestMessage {
  readonly scope?: Scope
  readonly input: unknown
}

export interface ErrorReply {
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: Record<string, unknown> }
}

export type ReplyMessage = { readonly body: unknown } | ErrorReply

const prefix = '{"body":'
const suffix = '}'

/** A reply's message around the bytes of its body. The operator gets these bytes as the service wrote them. */
export const replyMessage = (body: string): string => `${prefix}${body}${suffix}`

/** The bytes of a reply's body, as the service wrote them. */
export const bodyBytes = (message: Uint8Array): Uint8Array =>
  message.subarray(prefix.length, message.length - suffix.length)
