import {
  canonicalString,
  Rejection,
  signaturesEqual,
  signRequest,
  timestampToleranceSeconds,
} from '@backoffice/contracts'
import type { Clock, Logger } from '@backoffice/service-runtime'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { type AddressRanges, callerAddress } from '../operators/addresses.ts'
import type { CredentialDirectory, CredentialUses, KnownCredential } from './credentials.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { RetryLater, retryAfterSeconds } from './reply.ts'
import { type FailedAuthentications, isKeyShaped, type Refusal, type SecurityLog } from './security-log.ts'

export interface AuthenticationContext {
  readonly directory: Pick<CredentialDirectory, 'find'>
  readonly rateLimiter: Pick<RateLimiter, 'admit'>
  /** An address that has used up its failures is refused with RATE_LIMITED, unless what it sends is rightly signed. */
  readonly failures: Pick<FailedAuthentications, 'count'>
  readonly securityLog: Pick<SecurityLog, 'refused' | 'admitted' | 'answered'>
  readonly uses: Pick<CredentialUses, 'used'>
  readonly addresses: Pick<CallerAddresses, 'of'>
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
  const address = context.addresses.of(request)
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
  const rejection = inSandbox ? explained(code, signed, { now, baseUrl: context.baseUrl() }) : new Rejection(code)
  throw countFailure(rejection, { ...claimed, credential }, context)
}

/** Helps an integrator to find a mistake. It never shows a signature or a secret, and nothing in production. */
function explained(
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

const knownMax = 1_000
/** Anybody can send a longer header, which is not worth remembering. */
const forwardedLengthMax = 200

/** Finds out from where requests come. */
export class CallerAddresses {
  readonly #trustedProxies: AddressRanges
  readonly #log: Logger
  #warned = false
  /** By what was sent. Operators send from few addresses, and to read one costs much more than to look it up. */
  readonly #known = new LRUCache<string, string>({ max: knownMax })

  constructor({ trustedProxies, log }: { readonly trustedProxies: AddressRanges; readonly log: Logger }) {
    this.#trustedProxies = trustedProxies
    this.#log = log
  }

  of(request: FastifyRequest): string {
    const peer = request.raw.socket.remoteAddress ?? ''
    const forwardedFor = header(request, 'x-forwarded-for')
    if (forwardedFor !== undefined && !this.#warned) this.#warnUnlessTrusted(peer)
    if (forwardedFor !== undefined && forwardedFor.length > forwardedLengthMax) return this.#read(peer, forwardedFor)
    const name = `${peer} ${forwardedFor ?? ''}`
    let address = this.#known.get(name)
    if (address === undefined) {
      address = this.#read(peer, forwardedFor)
      this.#known.set(name, address)
    }
    return address
  }

  #read(peer: string, forwardedFor: string | undefined): string {
    return callerAddress({ peer, forwardedFor, trustedProxies: this.#trustedProxies })
  }

  /**
   * If a proxy of ours is not trusted, all operators share its address: permitted addresses refuse everybody, and the
   * bound on failures counts everybody as one. Said once, because clients can send the header too.
   */
  #warnUnlessTrusted(peer: string): void {
    if (this.#trustedProxies.has(peer)) return
    this.#warned = true
    this.#log.error(
      { peer },
      'a request has X-Forwarded-For, but its sender is not in TRUSTED_PROXIES; if that is a proxy of ours, all operators have its address',
    )
  }
}
