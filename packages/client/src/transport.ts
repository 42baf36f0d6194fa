import { setTimeout as wait } from 'node:timers/promises'
import { signRequest } from '@backoffice/contracts/signing'
import { BackOfficeError, ConnectionError } from './errors.ts'

export interface TransportOptions {
  /** With the /api/v1 prefix. */
  readonly baseUrl: string
  /** bk_test_… or bk_live_…: the key chooses the environment. */
  readonly key: string
  /** sk_…; stays in this process. */
  readonly secret: string
  /** The longest that one attempt may take. Default 30,000. */
  readonly timeoutMs?: number
  /** Attempts for what is safe to send again, the first included. Default 5. */
  readonly attemptsMax?: number
  /** The first wait between attempts; it doubles up to 30 s, with jitter. Default 200. */
  readonly retryDelayMs?: number
  readonly fetch?: typeof globalThis.fetch
}

export interface Request {
  readonly method: 'GET' | 'POST'
  /** Below the base URL, percent-encoded, with the query string if any. */
  readonly route: string
  readonly body?: unknown
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
}

type Attempt =
  | { readonly reply: unknown }
  | { readonly error: BackOfficeError | ConnectionError; readonly retryAfterMs?: number }

const retryDelayMsMax = 30_000

/**
 * Signs and sends requests. Sends again what is safe to repeat: reads, requests with an Idempotency-Key, and any
 * request that was refused with 429 or because of its signature. Each attempt is signed anew.
 */
export class Transport {
  readonly #options: Required<TransportOptions>
  readonly #base: URL

  constructor(options: TransportOptions) {
    this.#options = {
      timeoutMs: 30_000,
      attemptsMax: 5,
      retryDelayMs: 200,
      fetch: globalThis.fetch,
      ...options,
      baseUrl: options.baseUrl.replace(/\/+$/, ''),
    }
    this.#base = new URL(this.#options.baseUrl)
  }

  /**
   * @throws {BackOfficeError} the API refused, or failed on every attempt
   * @throws {ConnectionError} no reply came on the last attempt
   */
  async send(request: Request): Promise<unknown> {
    // Serialised once: every attempt sends, and signs, the same bytes.
    const body = request.body === undefined ? '' : JSON.stringify(request.body)
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(request, body)
      if ('reply' in outcome) return outcome.reply
      if (attempt >= this.#options.attemptsMax || !isSafeToRepeat(request, outcome.error)) throw outcome.error
      await wait(outcome.retryAfterMs ?? this.#backoffMs(attempt), undefined, { signal: request.signal })
    }
  }

  async #attempt(request: Request, body: string): Promise<Attempt> {
    const url = new URL(this.#base.href.replace(/\/+$/, '') + request.route)
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signed = { method: request.method, path: url.pathname + url.search, timestamp, body }
    const headers: Record<string, string> = {
      'X-Operator-Key': this.#options.key,
      'X-Timestamp': timestamp,
      'X-Signature': signRequest(this.#options.secret, signed),
    }
    if (body !== '') headers['Content-Type'] = 'application/json'
    if (request.idempotencyKey !== undefined) headers['Idempotency-Key'] = request.idempotencyKey
    const timeout = AbortSignal.timeout(this.#options.timeoutMs)
    const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal])
    try {
      const { fetch } = this.#options
      const response = await fetch(url, {
        method: request.method,
        headers,
        signal,
        redirect: 'error',
        ...(body === '' ? {} : { body }),
      })
      return toAttempt(response, await response.text(), request)
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason
      return { error: new ConnectionError(error, request.idempotencyKey) }
    }
  }

  /** Exponential with full jitter, so that many clients do not come back at the same moment. */
  #backoffMs(attempt: number): number {
    return Math.random() * Math.min(retryDelayMsMax, this.#options.retryDelayMs * 2 ** attempt)
  }
}

function isSafeToRepeat(request: Request, error: BackOfficeError | ConnectionError): boolean {
  const repeatable = request.method === 'GET' || request.idempotencyKey !== undefined
  if (error instanceof ConnectionError) return repeatable
  if (error.status === 429 || isSignatureUsed(error)) return true
  return repeatable && (error.status >= 500 || error.code === 'IDEMPOTENCY_IN_PROGRESS')
}

/**
 * With replay protection: an equal request was signed in the same second. This one had no effect, and a second later,
 * which is what Retry-After says, it has another signature.
 */
const isSignatureUsed = ({ code, details }: BackOfficeError): boolean =>
  code === 'IDEMPOTENCY_CONFLICT' && details?.signature === 'used'

function toAttempt(response: Response, text: string, request: Request): Attempt {
  const reply = parseJson(text)
  if (response.ok) return { reply }
  const { error } = (reply ?? {}) as {
    error?: { code?: string; message?: string; requestId?: string; details?: Record<string, unknown> }
  }
  const retryAfterSeconds = Number(response.headers.get('Retry-After') ?? Number.NaN)
  return {
    error: new BackOfficeError({
      status: response.status,
      // A proxy in between may reply without the envelope.
      code: error?.code ?? 'UNKNOWN',
      message: error?.message ?? response.statusText,
      requestId: error?.requestId ?? response.headers.get('X-Request-Id') ?? undefined,
      details: error?.details,
      idempotencyKey: request.idempotencyKey,
    }),
    ...(Number.isFinite(retryAfterSeconds) ? { retryAfterMs: retryAfterSeconds * 1000 } : {}),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
