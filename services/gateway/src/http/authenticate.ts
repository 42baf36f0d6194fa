import { isIP } from 'node:net'
import {
  canonicalString,
  Rejection,
  type Scope,
  signaturesEqual,
  signRequest,
  timestampToleranceSeconds,
} from '@backoffice/contracts'
import { type Clock, type IsTrusted, type Logger, normaliseAddress } from '@backoffice/process'
import { type Db, sql } from '@backoffice/service-runtime'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CredentialDirectory, CredentialUses, KnownCredential } from './credentials.ts'
import { RetryLater, retryAfterSeconds } from './reply.ts'
import { type FailedAuthentications, isKeyShaped, type Refusal, type SecurityLog } from './security-log.ts'

export interface AuthenticationContext {
  readonly directory: Pick<CredentialDirectory, 'find'>
  readonly rateLimiter: Pick<RateLimiter, 'admit'>
  /** An address that has used up its failures is refused with RATE_LIMITED, unless what it sends is rightly signed. */
  readonly failures: Pick<FailedAuthentications, 'count'>
  readonly securityLog: Pick<SecurityLog, 'refused' | 'admitted' | 'answered'>
  readonly uses: Pick<CredentialUses, 'used'>
  readonly clock: Clock
  /** Where the API is reached, with the /api/v1 prefix. */
  readonly baseUrl: () => string
}

/** Who sends a request, and from where. */
export interface Caller {
  readonly credential: KnownCredential
  readonly address: string
}

/** A request, with what is known of its sender before anything is verified. */
interface Claimed {
  readonly request: FastifyRequest
  readonly key: string
  readonly address: string
}

/**
 * Finds out who sends a request. The order of the checks is fixed: key, timestamp, signature, suspension, address,
 * rate.
 * @throws {Rejection} INVALID_CREDENTIALS, TIMESTAMP_OUT_OF_RANGE, INVALID_SIGNATURE, OPERATOR_SUSPENDED,
 *   FORBIDDEN_IP, RATE_LIMITED
 */
export async function authenticate(request: FastifyRequest, context: AuthenticationContext): Promise<Caller> {
  const key = header(request, 'x-operator-key') ?? ''
  const address = callerAddress(request)
  const claimed = { request, key, address }
  // A key that exists is verified before anything is refused, whatever came from this address before.
  const credential = isKeyShaped(key) ? await context.directory.find(key, address) : null
  if (credential === null) throw countFailure(new Rejection('INVALID_CREDENTIALS'), { ...claimed, credential }, context)
  verifySignature(claimed, credential, context)
  const refuse = (code: 'OPERATOR_SUSPENDED' | 'FORBIDDEN_IP') => {
    context.securityLog.refused({ ...claimed, code, credential })
    return new Rejection(code)
  }
  if (credential.suspended) throw refuse('OPERATOR_SUSPENDED')
  if (!credential.permittedAddresses.isEmpty && !credential.permittedAddresses.has(address))
    throw refuse('FORBIDDEN_IP')
  const waitMs = await context.rateLimiter.admit(credential.scope, credential.rateLimitPerMinute)
  if (waitMs !== null) throw new RetryLater(retryAfterSeconds(waitMs), 'RATE_LIMITED')
  context.uses.used(credential.credentialId, context.clock.now())
  return { credential, address }
}

function verifySignature(claimed: Claimed, credential: KnownCredential, context: AuthenticationContext): void {
  const { request } = claimed
  const signed: SignedRequest = {
    method: request.method,
    path: request.raw.url ?? '',
    timestamp: header(request, 'x-timestamp'),
    signature: header(request, 'x-signature'),
    body: rawBody(request),
  }
  const now = context.clock.now()
  const code = judgeSignature(signed, credential.secret, now)
  if (code === null) return
  const inSandbox = credential.scope.environment === 'sandbox'
  const rejection = inSandbox
    ? explainedRejection(code, signed, { now, baseUrl: context.baseUrl() })
    : new Rejection(code)
  throw countFailure(rejection, { ...claimed, credential }, context)
}

/** Helps an integrator to find a mistake. It never shows a signature or a secret, and nothing in production. */
function explainedRejection(
  code: SignatureFault,
  signed: SignedRequest,
  { now, baseUrl }: { readonly now: Date; readonly baseUrl: string },
): Rejection {
  if (code === 'TIMESTAMP_OUT_OF_RANGE') return new Rejection(code, { serverTime: Math.floor(now.getTime() / 1000) })
  const ours = canonicalString({ ...signed, timestamp: signed.timestamp ?? '' })
  // In the fragment, which a browser does not send to any server.
  return new Rejection(code, {
    canonicalString: ours,
    compareAt: `${baseUrl}/docs/signing#${encodeURIComponent(ours)}`,
  })
}

/** Counts a failure against the address, so that somebody who guesses keys soon has to wait. */
function countFailure(
  rejection: Rejection,
  claimed: Claimed & Pick<Refusal, 'credential'>,
  { failures, securityLog }: AuthenticationContext,
): Rejection {
  const waitMs = failures.count(claimed.address)
  securityLog.refused({ ...claimed, code: rejection.code, limited: waitMs !== null })
  return waitMs === null ? rejection : new RetryLater(retryAfterSeconds(waitMs), 'RATE_LIMITED')
}

/** What is signed of a request, as it came over the wire. */
interface SignedRequest {
  readonly method: string
  readonly path: string
  readonly timestamp: string | undefined
  readonly signature: string | undefined
  readonly body: Uint8Array
}

/** Whether X-Timestamp is epoch seconds, without leading zeros, within the tolerance, either way. */
function isTimely(timestamp: string | undefined, now: Date): boolean {
  if (timestamp === undefined || !/^[1-9]\d{0,11}$/.test(timestamp)) return false
  return Math.abs(now.getTime() / 1000 - Number(timestamp)) <= timestampToleranceSeconds
}

type SignatureFault = 'TIMESTAMP_OUT_OF_RANGE' | 'INVALID_SIGNATURE'

/**
 * Judges a request against the secret of its key.
 * @returns the code to refuse with, or null: TIMESTAMP_OUT_OF_RANGE before INVALID_SIGNATURE
 */
function judgeSignature(request: SignedRequest, secret: string, now: Date): SignatureFault | null {
  const { method, path, timestamp, signature, body } = request
  if (timestamp === undefined || !isTimely(timestamp, now)) return 'TIMESTAMP_OUT_OF_RANGE'
  if (signature === undefined) return 'INVALID_SIGNATURE'
  return signaturesEqual(signRequest(secret, { method, path, timestamp, body }), signature) ? null : 'INVALID_SIGNATURE'
}

/**
 * A header as one string. Node joins the values of a repeated header, and the result matches nothing that we accept.
 */
export function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

const noBytes = Buffer.alloc(0)

/** The bytes as sent; none for a request without a body. */
export function rawBody(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : noBytes
}

/**
 * The caller's address: the socket's peer, or, where the peer is a proxy of ours, the rightmost X-Forwarded-For hop that is
 * not one. Hops further left were written by the caller and prove nothing. Where a hop is missing or unreadable, the nearest
 * address that we know is the proxy's own.
 */
export function callerAddress(request: Pick<FastifyRequest, 'ip' | 'ips'>): string {
  return normaliseAddress((request.ips ?? [request.ip]).findLast((hop) => isIP(hop) !== 0) ?? '')
}

/**
 * If a proxy of ours is not trusted, all operators share its address: permitted addresses refuse everybody, and the
 * bound on failures counts everybody as one. Said once, because clients can send the header too.
 */
export function warnOfProxies(
  app: FastifyInstance,
  { isTrusted, log }: { readonly isTrusted: IsTrusted; readonly log: Logger },
): void {
  let warned = false
  app.addHook('onRequest', (request, _reply, done) => {
    const peer = request.socket.remoteAddress ?? ''
    if (!warned && request.headers['x-forwarded-for'] !== undefined && !isTrusted(peer)) {
      warned = true
      log.error(
        { peer },
        'a request has X-Forwarded-For, but its sender is not in TRUSTED_PROXIES; if that is a proxy of ours, all operators have its address',
      )
    }
    done()
  })
}

/**
 * A window's budget, however large, is given out in about 120 shares. A request that has waited for more than that
 * found none for itself.
 */
const sharesMax = 200

interface Window {
  left: number
  endsAt: number
  spent: boolean
  taking: Promise<Share> | undefined
}

/**
 * At most the operator's limit of requests in a 60 s window, over all replicas. The window's budget is in the database.
 * Each replica takes shares of it, so that most requests need no round trip.
 */
export class RateLimiter {
  readonly #db: Db
  readonly #windows = new Map<string, Window>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Null when the request is within the limit, else the milliseconds until the window ends. */
  async admit({ operatorId, environment }: Scope, limit: number): Promise<number | null> {
    const key = `${operatorId} ${environment}`
    let window = this.#windows.get(key)
    if (window === undefined) {
      window = { left: 0, endsAt: 0, spent: false, taking: undefined }
      this.#windows.set(key, window)
    }
    for (let share = 1; share <= sharesMax; share++) {
      const now = performance.now()
      const running = now < window.endsAt
      if (running && window.left > 0) {
        window.left -= 1
        return null
      }
      if (running && window.spent) return window.endsAt - now
      await this.#take(window, { operatorId, environment, limit })
    }
    return Math.max(0, window.endsAt - performance.now())
  }

  /** Requests that find the share used up wait for the same round trip. */
  async #take(window: Window, budget: { operatorId: string; environment: string; limit: number }): Promise<void> {
    const askedAt = performance.now()
    window.taking ??= takeShare(this.#db, budget)
      .then((share) => {
        // A share belongs to its own window: what is left of an earlier one is not carried over. The window was measured
        // after it was asked for, so this end is not too late, however long the reply took.
        window.left = share.granted
        window.endsAt = askedAt + share.remainingMs
        window.spent = share.granted === 0
        return share
      })
      .finally(() => {
        window.taking = undefined
      })
    await window.taking
  }
}

interface Share {
  /** How many requests this replica may accept now; 0 when the window's budget is used up. */
  readonly granted: number
  /** Until the window ends. */
  readonly remainingMs: number
}

const windowSeconds = 60

/**
 * A window that begins in the future is from before PostgreSQL's clock was set back. It counts as over, or it would
 * last for as long as that step.
 */
const isOver = sql`(
  w.started_at <= clock_timestamp() - make_interval(secs => ${windowSeconds}::int)
  or w.started_at > clock_timestamp() + interval '1 second'
)`

/**
 * Takes a share of the window's budget for this replica, opening a window when none runs. Shares shrink as the budget
 * does, so that replicas waste little of its end; together they never grant more than the limit. The database's clock
 * measures the window, for every replica alike.
 */
export async function takeShare(
  db: Db,
  {
    operatorId,
    environment,
    limit,
  }: { readonly operatorId: string; readonly environment: string; readonly limit: number },
): Promise<Share> {
  const firstShare = shareOf(limit)
  const [share] = await db<Share>`
    insert into rate_window as w (operator_id, environment, started_at, granted, last_grant)
    values (${operatorId}, ${environment}, clock_timestamp(), ${firstShare}::int, ${firstShare}::int)
    on conflict (operator_id, environment) do update set
      started_at = case when ${isOver} then clock_timestamp() else w.started_at end,
      granted = case when ${isOver} then ${firstShare}::int
        else least(${limit}::int, w.granted + greatest(1, ceil((${limit}::int - w.granted) / 8.0)::int)) end,
      last_grant = case when ${isOver} then ${firstShare}::int
        else greatest(0, least(${limit}::int - w.granted, greatest(1, ceil((${limit}::int - w.granted) / 8.0)::int))) end
    returning last_grant as granted,
      greatest(0, extract(epoch from started_at + make_interval(secs => ${windowSeconds}::int) - clock_timestamp()) * 1000)::float8 as remaining_ms
  `
  return share ?? { granted: 0, remainingMs: windowSeconds * 1000 }
}

/** An eighth of the budget: at most a few dozen round trips a window, however high the limit. */
function shareOf(budget: number): number {
  return Math.max(1, Math.ceil(budget / 8))
}
