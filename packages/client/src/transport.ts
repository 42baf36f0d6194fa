import { setTimeout as wait } from 'node:timers/promises'
import { signRequest } from '@backoffice/contracts/signing'
import { apiVersion } from './api.ts'
import type { ApiReply } from './call.ts'
import { BackOfficeError, ConnectionError } from './errors.ts'
import { type Hooks, tell } from './hooks.ts'

export interface TransportOptions extends Hooks {
  /** With the /api/v1 prefix. */
  readonly baseUrl: string
  /** bk_test_… or bk_live_…: the key chooses the environment. */
  readonly key: string
  /** sk_…; stays in this process. */
  readonly secret: string
  /** The longest that one attempt may take. Default 30,000. */
  readonly timeoutMs?: number | undefined
  /** Attempts for what is safe to send again, the first included. Default 5. */
  readonly attemptsMax?: number | undefined
  /** The first wait between attempts; it doubles up to 30 s, with jitter. Default 200. */
  readonly retryDelayMs?: number | undefined
  /** The longest `Retry-After` that is waited for. Whoever asks for more gets no further attempt. Default 60,000. */
  readonly retryAfterMsMax?: number | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface Request {
  readonly method: 'GET' | 'POST'
  /** The path of the document, with its parameters unfilled. */
  readonly route: string
  /** Below the base URL, percent-encoded, with the query string if any. */
  readonly path: string
  readonly body?: unknown
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
}

type Failure = BackOfficeError | ConnectionError
type Attempt = { readonly reply: ApiReply<unknown> } | { readonly error: Failure }

const retryDelayMsMax = 30_000
const userAgent = `backoffice-client/${apiVersion} (${globalThis.navigator?.userAgent ?? `Node.js/${process.versions.node}`})`

/**
 * Signs and sends requests. Sends again what is safe to repeat: reads, requests with an Idempotency-Key, and any
 * request that was refused with 429 or because of its signature. Each attempt is signed anew.
 */
export class Transport {
  readonly #baseUrl: string
  readonly #key: string
  readonly #secret: string
  readonly #timeoutMs: number
  readonly #attemptsMax: number
  readonly #retryDelayMs: number
  readonly #retryAfterMsMax: number
  readonly #fetch: typeof globalThis.fetch
  readonly #hooks: Hooks

  /** @throws {TypeError} the address is none, or key or secret is missing */
  constructor({ onRequest, onResponse, onRetry, ...options }: TransportOptions) {
    // Often an environment variable that nobody has set: said here, and not by the API with a 401.
    for (const name of ['key', 'secret'] as const)
      if (!options[name]) throw new TypeError(`the client needs the ${name} of a credential`)
    this.#baseUrl = new URL(options.baseUrl).href.replace(/\/+$/, '')
    this.#key = options.key
    this.#secret = options.secret
    this.#timeoutMs = options.timeoutMs ?? 30_000
    this.#attemptsMax = options.attemptsMax ?? 5
    this.#retryDelayMs = options.retryDelayMs ?? 200
    this.#retryAfterMsMax = options.retryAfterMsMax ?? 60_000
    this.#fetch = options.fetch ?? globalThis.fetch
    this.#hooks = { onRequest, onResponse, onRetry }
  }

  /**
   * @throws {BackOfficeError} the API refused, or failed on every attempt
   * @throws {ConnectionError} no reply came on the last attempt
   */
  async send(request: Request): Promise<ApiReply<unknown>> {
    // Serialised once: every attempt sends, and signs, the same bytes.
    const body = request.body === undefined ? '' : JSON.stringify(request.body)
    const { method, route, path, idempotencyKey, signal } = request
    for (let attempt = 1; ; attempt++) {
      const event = { method, route, path, idempotencyKey, attempt }
      tell(this.#hooks.onRequest, event)
      const beganMs = performance.now()
      const outcome = await this.#attempt(request, body)
      const durationMs = performance.now() - beganMs
      tell(this.#hooks.onResponse, { ...event, durationMs, ...summaryOf(outcome) })
      if ('reply' in outcome) return outcome.reply
      const { error } = outcome
      const delayMs = this.#delayMs(error, attempt)
      if (delayMs === undefined || attempt >= this.#attemptsMax || !isSafeToRepeat(request, error)) throw error
      tell(this.#hooks.onRetry, { ...event, error, delayMs })
      await wait(delayMs, undefined, { signal }).catch(() => signal?.throwIfAborted())
    }
  }

  async #attempt(request: Request, body: string): Promise<Attempt> {
    const url = new URL(this.#baseUrl + request.path)
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signed = { method: request.method, path: url.pathname + url.search, timestamp, body }
    const headers: Record<string, string> = {
      'User-Agent': userAgent,
      'X-Operator-Key': this.#key,
      'X-Timestamp': timestamp,
      'X-Signature': signRequest(this.#secret, signed),
    }
    if (body !== '') headers['Content-Type'] = 'application/json'
    if (request.idempotencyKey !== undefined) headers['Idempotency-Key'] = request.idempotencyKey
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal])
    try {
      const fetch = this.#fetch
      const response = await fetch(url, {
        method: request.method,
        headers,
        signal,
        redirect: 'error',
        ...(body === '' ? {} : { body }),
      })
      return toAttempt(response, await response.text(), request)
    } catch (error) {
      request.signal?.throwIfAborted()
      return { error: new ConnectionError(error, request.idempotencyKey) }
    }
  }

  /** How long the next attempt waits; undefined when the API asks for more than we are to wait. */
  #delayMs(error: Failure, attempt: number): number | undefined {
    const retryAfterMs = error instanceof BackOfficeError ? error.retryAfterMs : undefined
    if (retryAfterMs !== undefined) return retryAfterMs > this.#retryAfterMsMax ? undefined : retryAfterMs
    // Exponential with full jitter, so that many clients do not come back at the same moment.
    return Math.random() * Math.min(retryDelayMsMax, this.#retryDelayMs * 2 ** attempt)
  }
}

function isSafeToRepeat(request: Request, error: Failure): boolean {
  const repeatable = request.method === 'GET' || request.idempotencyKey !== undefined
  if (error instanceof ConnectionError) return repeatable
  if (error.status === 429 || isSignatureUsed(error)) return true
  return repeatable && (error.status >= 500 || error.code === 'IDEMPOTENCY_IN_PROGRESS')
}

/**
 * With replay protection: an equal request was signed in the same second. This one had no effect, and a second later,
 * which is what Retry-After says, it has another signature.
 */
const isSignatureUsed = (error: BackOfficeError): boolean =>
  error.code === 'IDEMPOTENCY_CONFLICT' && error.details?.signature === 'used'

function toAttempt({ ok, status, statusText, headers }: Response, text: string, request: Request): Attempt {
  const reply = parseJson(text)
  const requestId = headers.get('X-Request-Id') ?? undefined
  const replayed = headers.get('Idempotent-Replayed') === 'true'
  if (ok) return { reply: { data: reply, status, requestId, replayed, headers } }
  const { error } = (reply ?? {}) as {
    error?: { code?: string; message?: string; requestId?: string; details?: unknown }
  }
  return {
    error: new BackOfficeError({
      status,
      // A proxy in between may reply without the envelope.
      code: error?.code ?? 'UNKNOWN',
      message: error?.message ?? statusText,
      requestId: error?.requestId ?? requestId,
      details: error?.details,
      idempotencyKey: request.idempotencyKey,
      retryAfterMs: retryAfterMsIn(headers),
    }),
  }
}

/** What hooks are told of an attempt that has ended. */
function summaryOf(outcome: Attempt) {
  if ('reply' in outcome) {
    const { status, requestId, replayed } = outcome.reply
    return { status, requestId, replayed, error: undefined }
  }
  const { error } = outcome
  const { status, requestId } = error instanceof BackOfficeError ? error : {}
  return { status, requestId, replayed: false, error }
}

/** The API sends seconds; a proxy in between may send a date. */
function retryAfterMsIn(headers: Headers): number | undefined {
  const value = headers.get('Retry-After')
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
