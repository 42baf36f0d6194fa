import {
  canonicalString,
  defined,
  type Operation,
  Rejection,
  type Scope,
  type StoredAmount,
  signaturesEqual,
  signRequest,
  timestampToleranceSeconds,
} from '@backoffice/contracts'
import { type Clock, callerAddress } from '@backoffice/process'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyKind, KnownKey } from '../keys.ts'
import type { DayUse } from '../operators/operator.ts'
import type { Budget, KnownCredential, Tenant } from '../operators/records.ts'
import type { KeyUses } from './key-directory.ts'
import { RetryLater, retryAfterSeconds } from './reply.ts'
import type { FailedAuthentications, Refusal, SecurityLog } from './security-log.ts'

/** What it takes to find out who sends a request, for callers with one kind of key. */
export interface AuthenticationContext<Known extends KnownKey = KnownCredential> {
  readonly keys: KeyKind
  readonly directory: { find(key: string, address: string): Promise<Known | null> }
  readonly rateLimiter: { admit(budget: Budget, limit: number): Promise<number | null> }
  /** An address that has used up its failures is refused with RATE_LIMITED, unless what it sends is correctly signed. */
  readonly failures: Pick<FailedAuthentications, 'count'>
  readonly securityLog: Pick<SecurityLog, 'refused'>
  readonly uses: Pick<KeyUses, 'used'>
  readonly clock: Clock
  /** Where the page is that compares signatures, with its prefix; undefined: there is none. */
  readonly baseUrl: () => string | undefined
}

/** What is known of the caller once a request is let in. */
export interface AdmittedCaller {
  readonly key: string
  /** What the call acts for. */
  readonly scope: Scope
  /** Whether a signature is accepted for one request only. */
  readonly replayProtection: boolean
  /** Whose day the call counts for. */
  readonly tenant: Tenant
  readonly usedToday: DayUse
  readonly quotas: StoredAmount
}

/** Who sends a request, and from where. */
export interface Caller {
  readonly credential: AdmittedCaller
  readonly address: string
}

/** A request whose sender is known and may call the operation. */
export interface Access extends Caller {
  readonly operation: Operation
  readonly request: FastifyRequest
}

/** Notes what became of requests, in memory: no request waits for it. */
export interface Observer {
  /** Beside refusals, faults and replays: the answers to these operations, and all to these operators. */
  readonly awaits: { readonly operations: ReadonlySet<string>; readonly operators: ReadonlySet<string> }
  /** @param payload the body that is sent */
  answered(request: FastifyRequest, reply: FastifyReply, payload: unknown): void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose key was sent, once it is known to exist. */
    sender: KnownKey | undefined
    /** The signature is right. */
    verified: boolean
    /** Set when the request is authenticated. */
    access: Access | undefined
  }
}

/** A request, with what is known of its sender before anything is verified. */
interface Claimed {
  readonly request: FastifyRequest
  readonly key: string
  readonly address: string
}

/**
 * Finds out which operator sends a request. The order of the checks is fixed: key, timestamp, signature, suspension,
 * address, rate.
 * @throws {Rejection} INVALID_CREDENTIALS, TIMESTAMP_OUT_OF_RANGE, INVALID_SIGNATURE, OPERATOR_SUSPENDED,
 *   FORBIDDEN_IP, RATE_LIMITED
 */
export async function authenticate(request: FastifyRequest, context: AuthenticationContext): Promise<Caller> {
  const { known: credential, address, refuse } = await verifySender(request, context)
  if (credential.suspended) throw refuse('OPERATOR_SUSPENDED')
  refuseForeignAddress(credential, address, refuse)
  await admitWithin(credential.rateLimitPerMinute, credential.scope, context)
  context.uses.used(credential.credentialId, context.clock.now())
  return { credential, address }
}

export const identifying = (context: AuthenticationContext) => (request: FastifyRequest) =>
  authenticate(request, context)

/** Makes the refusal of a request whose signature is right, and shows it in the security log. */
export type Refuse = (code: 'OPERATOR_SUSPENDED' | 'FORBIDDEN_IP' | 'BRAND_NOT_GRANTED') => Rejection

/**
 * Whose key signs a request: the first three checks of every surface.
 * @throws {Rejection} INVALID_CREDENTIALS, TIMESTAMP_OUT_OF_RANGE, INVALID_SIGNATURE, RATE_LIMITED
 */
export async function verifySender<Known extends KnownKey>(
  request: FastifyRequest,
  context: AuthenticationContext<Known>,
): Promise<{ readonly known: Known; readonly address: string; readonly refuse: Refuse }> {
  const { keys, directory, securityLog } = context
  const key = header(request, keys.header.toLowerCase()) ?? ''
  const address = callerAddress(request)
  const claimed = { request, key, address }
  // A key that exists is verified before anything is refused, whatever came from this address before.
  const known = keys.shape.test(key) ? await directory.find(key, address) : null
  if (known === null) throw countFailure(unknownKey(key, keys), { ...claimed, holder: undefined }, context)
  request.sender = known
  verifySignature(claimed, known, context)
  request.verified = true
  const refuse: Refuse = (code) => {
    securityLog.refused({ ...claimed, code, holder: known.holder })
    return new Rejection(code)
  }
  return { known, address, refuse }
}

/** @throws {Rejection} FORBIDDEN_IP */
export function refuseForeignAddress({ permittedAddresses }: KnownKey, address: string, refuse: Refuse): void {
  if (!permittedAddresses.isEmpty && !permittedAddresses.has(address)) throw refuse('FORBIDDEN_IP')
}

/** @throws {Rejection} RATE_LIMITED */
export async function admitWithin(
  perMinute: number,
  budget: Budget,
  { rateLimiter }: Pick<AuthenticationContext, 'rateLimiter'>,
): Promise<void> {
  const waitMs = await rateLimiter.admit(budget, perMinute)
  if (waitMs !== null) throw new RetryLater(retryAfterSeconds(waitMs), 'RATE_LIMITED')
}

function unknownKey(key: string, keys: KeyKind): Rejection {
  const hint = keyHint(key, keys)
  return hint === undefined ? new Rejection('INVALID_CREDENTIALS') : new Rejection('INVALID_CREDENTIALS', { hint })
}

type Judging = Pick<AuthenticationContext, 'failures' | 'securityLog' | 'clock' | 'baseUrl'>

function verifySignature(claimed: Claimed, known: KnownKey, context: Judging): void {
  const { request } = claimed
  const signed: SignedRequest = {
    method: request.method,
    path: request.raw.url ?? '',
    timestamp: header(request, 'x-timestamp'),
    signature: header(request, 'x-signature'),
    body: rawBody(request),
  }
  const now = context.clock.now()
  const code = judgeSignature(signed, known.secret, now)
  if (code === null) return
  const inSandbox = known.holder.environment === 'sandbox'
  const rejection = inSandbox
    ? explainedRejection(code, signed, { now, baseUrl: context.baseUrl() })
    : new Rejection(code)
  throw countFailure(rejection, { ...claimed, holder: known.holder }, context)
}

/** Counts a failure against the address, so that somebody who guesses keys soon has to wait. */
function countFailure(
  rejection: Rejection,
  claimed: Claimed & Pick<Refusal, 'holder'>,
  { failures, securityLog }: Judging,
): Rejection {
  const waitMs = failures.count(claimed.address)
  securityLog.refused({ ...claimed, code: rejection.code, limited: waitMs !== null })
  return waitMs === null ? rejection : new RetryLater(retryAfterSeconds(waitMs), 'RATE_LIMITED')
}

/** Whether X-Timestamp is epoch seconds, without leading zeros, within the tolerance, either way. */
function isTimely(timestamp: string | undefined, now: Date): boolean {
  if (timestamp === undefined || !/^[1-9]\d{0,11}$/.test(timestamp)) return false
  return Math.abs(now.getTime() / 1000 - Number(timestamp)) <= timestampToleranceSeconds
}

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

// What is wrong with the form of a header, for integrators in the sandbox. A hint looks at nothing but what was sent,
// and repeats none of it: it may be a secret in the wrong place.

/** A key names its environment itself: there is no hint for what does not begin as the sandbox's keys do. */
function keyHint(key: string, { header, prefixes: { sandbox: prefix } }: KeyKind): string | undefined {
  if (!key.startsWith(prefix)) return undefined
  const fault = hexFault(key.slice(prefix.length), 32)
  return fault && `${header}, after ${prefix}: ${fault}`
}

function timestampHint(timestamp: string | undefined, serverTime: number): string {
  if (timestamp === undefined) return 'X-Timestamp is missing'
  if (!/^[1-9]\d*$/.test(timestamp)) return 'X-Timestamp: expected epoch seconds, digits alone, without leading zeros'
  const unit = ({ 13: 'milliseconds', 16: 'microseconds', 19: 'nanoseconds' } as const)[timestamp.length]
  if (unit !== undefined) return `X-Timestamp is in ${unit}; expected epoch seconds`
  const ahead = Number(timestamp) - serverTime
  return `X-Timestamp is ${Math.abs(ahead)} seconds ${ahead > 0 ? 'ahead of' : 'behind'} our clock`
}

/** Undefined where the form is right, and so what was signed is wrong. */
function signatureHint(signature: string | undefined): string | undefined {
  if (signature === undefined) return 'X-Signature is missing'
  const fault = hexFault(signature, 64)
  return fault && `X-Signature: ${fault}`
}

function hexFault(text: string, length: number): string | undefined {
  const expected = `expected ${length} of lowercase hex`
  if (text.length !== length) return `${text.length} characters${isBase64(text) ? ', as of base64' : ''}; ${expected}`
  if (/^[\da-f]*$/.test(text)) return undefined
  return `${/^[\da-f]*$/i.test(text) ? 'upper case' : 'characters that are not hex'}; ${expected}`
}

/** 32 bytes, padded or not. */
const isBase64 = (text: string): boolean => /^[\w+/-]{43}=?$/.test(text)

/** What is signed of a request, as it came over the wire. */
interface SignedRequest {
  readonly method: string
  readonly path: string
  readonly timestamp: string | undefined
  readonly signature: string | undefined
  readonly body: Uint8Array
}

type SignatureFault = 'TIMESTAMP_OUT_OF_RANGE' | 'INVALID_SIGNATURE'

/** Helps an integrator to find a mistake. It never shows a signature or a secret, and nothing in production. */
function explainedRejection(
  code: SignatureFault,
  signed: SignedRequest,
  { now, baseUrl }: { readonly now: Date; readonly baseUrl: string | undefined },
): Rejection {
  if (code === 'TIMESTAMP_OUT_OF_RANGE') {
    const serverTime = Math.floor(now.getTime() / 1000)
    return new Rejection(code, { ...defined({ hint: timestampHint(signed.timestamp, serverTime) }), serverTime })
  }
  const ours = canonicalString({ ...signed, timestamp: signed.timestamp ?? '' })
  // In the fragment, which a browser does not send to any server.
  return new Rejection(code, {
    ...defined({ hint: signatureHint(signed.signature) }),
    canonicalString: ours,
    ...defined({ compareAt: baseUrl && `${baseUrl}/docs/signing#${encodeURIComponent(ours)}` }),
  })
}
