// Rules.

/** A reply as it was sent, kept for the replays of its Idempotency-Key. */
export interface StoredResponse {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
  readonly requestId: string
}

/** A key that a request holds, and until when it stands for the operation. */
export interface MyClaim {
  readonly state: 'mine'
  readonly operationId: string
  readonly until: Date
}

/** What the Idempotency-Key of a request stands for. */
export type Claim =
  | MyClaim
  | { readonly state: 'replay'; readonly response: StoredResponse }
  | { readonly state: 'conflict' }
  /** The request's signature was accepted before, for another request. */
  | { readonly state: 'signature used' }
  | { readonly state: 'running'; readonly remainingMs: number }
  /**
   * The key has expired, but nobody knows what became of its operation. That must be resolved before the key gets a new
   * operation id.
   */
  | { readonly state: 'unresolved'; readonly operation: string; readonly operationId: string }

/** A key that somebody has used. */
export interface UsedKey {
  readonly fingerprint: Buffer
  /** Whether it is older than keys are remembered. */
  readonly expired: boolean
  readonly operation: string
  readonly operationId: string
  /** How long the lease of the running attempt lasts. Zero or less when none runs. */
  readonly remainingMs: number
  /** Null until the outcome is known. */
  readonly response: StoredResponse | null
}

/**
 * What a used key means for a request. Conflict is judged before in-progress.
 * @returns null when the request may claim the key
 */
export function judgeUsedKey(used: UsedKey, fingerprint: Buffer): Claim | null {
  const { expired, operation, operationId, remainingMs, response } = used
  const running = remainingMs > 0
  if (expired) {
    if (response !== null) return null
    return running ? { state: 'running', remainingMs } : { state: 'unresolved', operation, operationId }
  }
  if (!used.fingerprint.equals(fingerprint)) return { state: 'conflict' }
  if (response !== null) return { state: 'replay', response }
  return running ? { state: 'running', remainingMs } : null
}
