import { setTimeout as wait } from 'node:timers/promises'
import { signRequest } from '@backoffice/contracts/signing'
import { apiVersion } from './api.ts'
import { BackOfficeError, ConnectionError, isSignatureUsed } from './errors.ts'

/** A record with what the reply said beside it. */
export interface ApiReply<Data> {
  readonly data: Data
  readonly status: number
  /** Names the request in our logs; quote it when you ask for help. */
  readonly requestId: string | undefined
  /** Whether this is the stored reply of an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean
  readonly headers: Headers
}

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
interface Hooks {
  readonly onRequest?: ((event: RequestEvent) => unknown) | undefined
  readonly onResponse?: ((event: ResponseEvent) => unknown) | undefined
  readonly onRetry?: ((event: RetryEvent) => unknown) | undefined
}

function tell<Event>(hook: ((event: Event) => unknown) | undefined, event: Event): void {
  if (hook === undefined) return
  // In a function that is async, a hook that throws and one that rejects end in the same place.
  const told = (async () => hook(event))()
  told.catch((cause) => process.emitWarning(`a hook of the back-office client failed: ${cause}`))
}

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

/** What every attempt at a request sends. */
interface Message {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
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

  /** @throws {TypeError} no request can be sent to the address, or key or secret is missing */
  constructor({ onRequest, onResponse, onRetry, ...options }: TransportOptions) {
    // Often an environment variable that nobody has set: said here, and not by the API with a 401.
    for (const name of ['key', 'secret'] as const)
      if (!options[name]) throw new TypeError(`the client needs the ${name} of a credential`)
    const { href, protocol, username, password } = new URL(options.baseUrl)
    if (!/^https?:$/.test(protocol) || username !== '' || password !== '')
      throw new TypeError('the baseUrl begins with https:// or http://, and has no user name')
    this.#baseUrl = href.replace(/\/+$/, '')
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
   * @throws {ConnectionError} no reply came on the last attempt, or its refusal says nothing of an earlier one
   * @throws {TypeError} the request cannot be sent: its Idempotency-Key has characters that no header can carry
   */
  async send(request: Request): Promise<ApiReply<unknown>> {
    // Serialised once: every attempt sends, and signs, the same bytes.
    const body = request.body === undefined ? '' : JSON.stringify(request.body)
    const { method, route, path, idempotencyKey, signal } = request
    // Made before any attempt, and checked by Headers: what cannot be sent is the caller's error, and no lost reply.
    const headers = Object.fromEntries(
      new Headers({
        'User-Agent': userAgent,
        'X-Operator-Key': this.#key,
        ...(body === '' ? {} : { 'Content-Type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      }),
    )
    // By an attempt whose reply we do not have.
    let mayBeDone = false
    for (let attempt = 1; ; attempt++) {
      const event = { method, route, path, idempotencyKey, attempt }
      tell(this.#hooks.onRequest, event)
      const beganMs = performance.now()
      const outcome = await this.#attempt(request, { body, headers })
      const durationMs = performance.now() - beganMs
      tell(this.#hooks.onResponse, { ...event, durationMs, ...summaryOf(outcome) })
      if ('reply' in outcome) return outcome.reply
      const { error } = outcome
      // Whoever aborted an attempt gets the reason that they gave.
      if (error instanceof ConnectionError) signal?.throwIfAborted()
      const delayMs = this.#delayMs(error, attempt)
      const isLast = delayMs === undefined || attempt >= this.#attemptsMax || !isSafeToRepeat(request, error)
      if (leavesOpen(error)) mayBeDone = idempotencyKey !== undefined
      else if (isLast && mayBeDone && !error.final) throw new ConnectionError(error, idempotencyKey)
      if (isLast) throw error
      tell(this.#hooks.onRetry, { ...event, error, delayMs })
      await wait(delayMs, undefined, { signal }).catch(() => signal?.throwIfAborted())
    }
  }

  async #attempt(request: Request, { body, headers }: Message): Promise<Attempt> {
    const url = new URL(this.#baseUrl + request.path)
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signed = { method: request.method, path: url.pathname + url.search, timestamp, body }
    const signature = signRequest(this.#secret, signed)
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal])
    try {
      const fetch = this.#fetch
      const response = await fetch(url, {
        method: request.method,
        headers: { ...headers, 'X-Timestamp': timestamp, 'X-Signature': signature },
        signal,
        redirect: 'error',
        ...(body === '' ? {} : { body }),
      })
      return toAttempt(response, await response.text(), request)
    } catch (error) {
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

/** A request without a key is sent again if it only reads, or if it certainly had no effect. */
function isSafeToRepeat({ method, idempotencyKey }: Request, error: Failure): boolean {
  if (!error.retryable) return false
  return method === 'GET' || idempotencyKey !== undefined || hadNoEffect(error)
}

/** Whether the request may have been carried out, although this is all that we heard. */
const leavesOpen = (error: Failure): boolean => error.retryable && !hadNoEffect(error)

const hadNoEffect = (error: Failure): boolean =>
  error instanceof BackOfficeError && (error.status === 429 || isSignatureUsed(error))

function toAttempt({ ok, status, statusText, headers }: Response, text: string, request: Request): Attempt {
  const reply = parseJson(text)
  const requestId = headers.get('X-Request-Id') ?? undefined
  const replayed = headers.get('Idempotent-Replayed') === 'true'
  if (ok && isObject(reply)) return { reply: { data: reply, status, requestId, replayed, headers } }
  const { error } = (reply ?? {}) as {
    error?: { code?: unknown; message?: string; requestId?: string; details?: unknown }
  }
  return {
    error: new BackOfficeError({
      status,
      // A proxy in between may reply without the envelope, and with any status.
      code: typeof error?.code === 'string' ? error.code : 'UNKNOWN',
      message: error?.message ?? (ok ? 'the reply has no record, so it is not from the API' : statusText),
      requestId: error?.requestId ?? requestId,
      details: error?.details,
      idempotencyKey: request.idempotencyKey,
      retryAfterMs: retryAfterMsIn(headers),
      replayed,
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
  const { status, requestId, replayed = false } = error instanceof BackOfficeError ? error : {}
  return { status, requestId, replayed, error }
}

/** The API sends seconds; a proxy in between may send a date. */
function retryAfterMsIn(headers: Headers): number | undefined {
  const value = headers.get('Retry-After')
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
