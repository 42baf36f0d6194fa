import { type components, finalCodes, retryableByCode } from './api.ts'

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
  /**
   * Whether the same request, under the same Idempotency-Key, is to be sent again: its outcome is unknown, or only the
   * moment was wrong. If not, the same request would be refused again.
   */
  readonly retryable: boolean
  /** Whether this is the stored reply of an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean
  /**
   * Whether this is what became of the request under its Idempotency-Key: every later request with the key gets it, too.
   * If not, the request failed, or was refused before its key was looked up, and an earlier request with the key may have
   * been carried out. A request without a key has none before it.
   */
  readonly final: boolean
  /** The key that the request carried. It is remembered for 24 hours from the first call. */
  readonly idempotencyKey: string | undefined
  /** How long the API asks to wait before the next try. */
  readonly retryAfterMs: number | undefined
}

/** The error with one code. */
export type BackOfficeErrorOf<Code extends ErrorCode> = Error & Refusal<Code, ErrorDetailsOf<Code>>

/**
 * The API's reply when it refused or failed; narrow on `code`. UNKNOWN is a reply that is not the API's own, such as that
 * of a proxy in between. It can have any status, 200 included.
 */
export type BackOfficeError =
  | { [Code in ErrorCode]: BackOfficeErrorOf<Code> }[ErrorCode]
  | (Error & Refusal<'UNKNOWN', undefined>)

type Reply = Omit<Refusal, 'retryable' | 'replayed' | 'final'> & {
  readonly message: string
  readonly replayed?: boolean
}

// A class cannot be a union, so the type that `instanceof` narrows to is said apart from it.
export const BackOfficeError = class BackOfficeError extends Error {
  override readonly name = 'BackOfficeError'

  constructor({ message, replayed = false, ...refusal }: Reply) {
    super(`${refusal.status} ${refusal.code}: ${message}`)
    const retryable = isRetryable(refusal)
    const isWithoutKey = refusal.idempotencyKey === undefined
    const final = replayed || (isWithoutKey ? !retryable : cameAfterKey(refusal))
    Object.assign(this, refusal, { retryable, replayed, final })
  }
} as unknown as {
  new (reply: Reply): BackOfficeError
  readonly prototype: BackOfficeError
}

type Outcome = Pick<Refusal, 'status' | 'code' | 'details'>

function isRetryable(reply: Outcome): boolean {
  const { status, code } = reply
  if (isSignatureUsed(reply)) return true
  // A code that is not in the catalogue is judged by its status. Below 400 something in between has answered, and whether
  // the API got the request is not known.
  return retryableByCode.get(code) ?? (status < 400 || status === 408 || status === 429 || status >= 500)
}

/** A code that is newer than this client is not believed to be final until it comes from the store. */
function cameAfterKey(reply: Outcome): boolean {
  const { code, details } = reply
  // The key itself is not well formed, or something on the way spoilt the request.
  if (code === 'VALIDATION_ERROR' && (details as { in?: unknown } | undefined)?.in === 'headers') return false
  return finalCodes.has(code) && !isSignatureUsed(reply)
}

/**
 * With replay protection: an equal request was signed in the same second. This one had no effect, and a second later,
 * which is what Retry-After says, it has another signature.
 */
export const isSignatureUsed = ({ code, details }: Outcome): boolean =>
  code === 'IDEMPOTENCY_CONFLICT' && (details as { signature?: unknown } | undefined)?.signature === 'used'

/**
 * The outcome is unknown. No reply came, for whatever reason; or an earlier attempt may have been carried out, and the last
 * one was refused before its key was looked up: then `cause` is that refusal, a BackOfficeError. Retry with the same
 * `idempotencyKey`, within 24 hours.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly retryable = true
  readonly final = false
  readonly idempotencyKey: string | undefined

  constructor(cause: unknown, idempotencyKey: string | undefined) {
    const before =
      cause instanceof BackOfficeError
        ? 'an earlier attempt may have been carried out, the last was refused'
        : 'no answer'
    super(`${before}: ${reasonOf(cause)}`, { cause })
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
