import type { components } from './api.ts'

type ErrorDetails = components['schemas']['ErrorDetails']

/** Every code that this release knows. A later API may send one that is not among them. */
export type ErrorCode = keyof ErrorDetails
/** What an error with this code carries as `details`. */
export type ErrorDetailsOf<Code extends ErrorCode> = unknown extends ErrorDetails[Code] ? undefined : ErrorDetails[Code]

interface Refusal<Code = string, Details = unknown> {
  readonly status: number
  /** Stable: branch on it, and `details` has the type that belongs to it. */
  readonly code: Code
  readonly details: Details
  /** Names the request in our logs; quote it when you ask for help. */
  readonly requestId: string | undefined
  /** The key that the request carried. After a 5xx the outcome is unknown: retry with it, within 24 hours. */
  readonly idempotencyKey: string | undefined
  /** How long the API asks to wait before the next try. */
  readonly retryAfterMs: number | undefined
}

/** The error with one code. */
export type BackOfficeErrorOf<Code extends ErrorCode> = Error & Refusal<Code, ErrorDetailsOf<Code>>

/**
 * The API's reply when it refused or failed; narrow on `code`. UNKNOWN is an error reply that is not the API's own, such
 * as that of a proxy in between.
 */
export type BackOfficeError =
  | { [Code in ErrorCode]: BackOfficeErrorOf<Code> }[ErrorCode]
  | (Error & Refusal<'UNKNOWN', undefined>)

// A class cannot be a union, so the type that `instanceof` narrows to is said apart from it.
export const BackOfficeError = class BackOfficeError extends Error {
  override readonly name = 'BackOfficeError'

  constructor({ message, ...refusal }: Refusal & { readonly message: string }) {
    super(`${refusal.status} ${refusal.code}: ${message}`)
    Object.assign(this, refusal)
  }
} as unknown as {
  new (reply: Refusal & { readonly message: string }): BackOfficeError
  readonly prototype: BackOfficeError
}

/** No reply came, so the outcome is unknown. Retry with the same `idempotencyKey`, within 24 hours. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly idempotencyKey: string | undefined

  constructor(cause: unknown, idempotencyKey: string | undefined) {
    super(`no answer: ${reasonOf(cause)}`, { cause })
    this.idempotencyKey = idempotencyKey
  }
}

/** What fetch says is "fetch failed"; why stands in its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message || reasonCode(error.cause) : error.message
}

/** An error of several addresses has no message of its own. */
const reasonCode = (error: Error & { code?: unknown }): string => String(error.code ?? error.name)
