import type { BackOfficeError, ConnectionError } from './errors.ts'

/** One attempt at a request. It never holds the secret, a signature, or a body. */
export interface RequestEvent {
  readonly method: 'GET' | 'POST'
  /** The path of the document, such as `/players/{playerId}/wallet`: the same for all players, as metrics want it. */
  readonly route: string
  /** As sent below the base URL, with identifiers and the query. */
  readonly path: string
  readonly idempotencyKey: string | undefined
  /** 1 for the first. */
  readonly attempt: number
}

export interface ResponseEvent extends RequestEvent {
  readonly durationMs: number
  /** Undefined when no reply came. */
  readonly status: number | undefined
  readonly requestId: string | undefined
  readonly replayed: boolean
  /** Undefined when it succeeded. Of an aborted attempt it is a ConnectionError, whose cause is the signal's reason. */
  readonly error: BackOfficeError | ConnectionError | undefined
}

export interface RetryEvent extends RequestEvent {
  /** Why the attempt is not the last one. */
  readonly error: BackOfficeError | ConnectionError
  /** How long the next attempt waits. */
  readonly delayMs: number
}

/** Functions for logs and metrics. None of them can change a request: one that fails is a warning of the process. */
export interface Hooks {
  readonly onRequest?: ((event: RequestEvent) => unknown) | undefined
  readonly onResponse?: ((event: ResponseEvent) => unknown) | undefined
  readonly onRetry?: ((event: RetryEvent) => unknown) | undefined
}

export function tell<Event>(hook: ((event: Event) => unknown) | undefined, event: Event): void {
  if (hook === undefined) return
  // In a function that is async, a hook that throws and one that rejects end in the same place.
  const told = (async () => hook(event))()
  told.catch((cause) => process.emitWarning(`a hook of the back-office client failed: ${cause}`))
}
