/** The API's reply when it refused or failed. `code` is stable: branch on it. */
export class BackOfficeError extends Error {
  override readonly name = 'BackOfficeError'
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  readonly details: Record<string, unknown> | undefined
  /** The key that the request carried. After a 5xx the outcome is unknown: retry with this key. */
  readonly idempotencyKey: string | undefined

  constructor(reply: {
    readonly status: number
    readonly code: string
    readonly message: string
    readonly requestId?: string | undefined
    readonly details?: Record<string, unknown> | undefined
    readonly idempotencyKey?: string | undefined
  }) {
    super(`${reply.status} ${reply.code}: ${reply.message}`)
    this.status = reply.status
    this.code = reply.code
    this.requestId = reply.requestId
    this.details = reply.details
    this.idempotencyKey = reply.idempotencyKey
  }
}

/** No reply came, for whatever reason, so the outcome is unknown. Retry with the same `idempotencyKey`. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly idempotencyKey: string | undefined

  constructor(cause: unknown, idempotencyKey: string | undefined) {
    super(`no answer: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.idempotencyKey = idempotencyKey
  }
}
