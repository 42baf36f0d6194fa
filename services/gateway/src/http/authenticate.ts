import { canonicalString, type ErrorCode, Rejection } from '@backoffice/contracts'
import type { Clock } from '@backoffice/service-runtime'
import type { FastifyRequest } from 'fastify'
import { type RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { type AddressRanges, callerAddress } from '../domain/addresses.ts'
import { judgeSignature, type SignedRequest } from '../domain/authentication.ts'
import { retryAfterSeconds } from '../domain/retry-after.ts'
import type { CredentialDirectory, KnownCredential } from './credential-directory.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { RetryLater } from './reply.ts'
import { header, rawBody } from './request.ts'

export interface AuthenticationContext {
  readonly directory: Pick<CredentialDirectory, 'has' | 'find'>
  readonly rateLimiter: Pick<RateLimiter, 'admit'>
  /** Failures by caller's address. An address that has used up its points is refused with RATE_LIMITED. */
  readonly failures: RateLimiterMemory
  readonly trustedProxies: AddressRanges
  readonly clock: Clock
}

/**
 * Finds out who sends a request. The order of the checks is fixed: key, timestamp, signature, suspension, address,
 * rate.
 * @throws {Rejection} INVALID_CREDENTIALS, TIMESTAMP_OUT_OF_RANGE, INVALID_SIGNATURE, OPERATOR_SUSPENDED,
 *   FORBIDDEN_IP, RATE_LIMITED
 */
export async function authenticate(request: FastifyRequest, context: AuthenticationContext): Promise<KnownCredential> {
  const address = callerAddress({
    peer: request.raw.socket.remoteAddress ?? '',
    forwardedFor: header(request, 'x-forwarded-for'),
    trustedProxies: context.trustedProxies,
  })
  const credential = await findCredential(request, address, context)
  await verifySignature(request, address, credential, context)
  if (credential.suspended) throw new Rejection('OPERATOR_SUSPENDED')
  if (!credential.permittedAddresses.isEmpty && !credential.permittedAddresses.has(address))
    throw new Rejection('FORBIDDEN_IP')
  const waitMs = await context.rateLimiter.admit(credential.scope, credential.rateLimitPerMinute)
  if (waitMs !== null) throw new RetryLater('RATE_LIMITED', retryAfterSeconds(waitMs))
  return credential
}

/** No longer key was ever issued, so it needs no look-up. */
const keyLengthMax = 128

async function findCredential(
  request: FastifyRequest,
  address: string,
  { directory, failures }: AuthenticationContext,
): Promise<KnownCredential> {
  const key = header(request, 'x-operator-key') ?? ''
  const plausible = key.length <= keyLengthMax && /^bk_(live|test)_[A-Za-z0-9]+$/.test(key)
  if (!plausible) throw await countFailure(failures, address, new Rejection('INVALID_CREDENTIALS'))
  if (!directory.has(key)) await refuseWhenExhausted(failures, address)
  const credential = await directory.find(key)
  if (credential === null) throw await countFailure(failures, address, new Rejection('INVALID_CREDENTIALS'))
  return credential
}

async function verifySignature(
  request: FastifyRequest,
  address: string,
  credential: KnownCredential,
  { failures, clock }: AuthenticationContext,
): Promise<void> {
  const signed: SignedRequest = {
    method: request.method,
    path: request.raw.url ?? '',
    timestamp: header(request, 'x-timestamp'),
    signature: header(request, 'x-signature'),
    body: rawBody(request),
  }
  const now = clock.now()
  const code = judgeSignature(signed, credential.secret, now)
  if (code === null) return
  const details = credential.scope.environment === 'sandbox' ? sandboxDetails(code, signed, now) : undefined
  throw await countFailure(failures, address, new Rejection(code, details))
}

/** Helps an integrator to find a mistake. It never shows a signature or a secret, and nothing in production. */
function sandboxDetails(code: ErrorCode, signed: SignedRequest, now: Date): Record<string, unknown> {
  if (code === 'TIMESTAMP_OUT_OF_RANGE') return { serverTime: Math.floor(now.getTime() / 1000) }
  return { canonicalString: canonicalString({ ...signed, timestamp: signed.timestamp ?? '' }) }
}

/** Counts a failure against the address, so that somebody who guesses keys soon has to wait. */
async function countFailure(failures: RateLimiterMemory, address: string, rejection: Rejection): Promise<Rejection> {
  try {
    await failures.consume(address)
    return rejection
  } catch (exhausted) {
    return toRetryLater(exhausted)
  }
}

async function refuseWhenExhausted(failures: RateLimiterMemory, address: string): Promise<void> {
  const state = await failures.get(address)
  if (state !== null && state.remainingPoints <= 0) throw toRetryLater(state)
}

function toRetryLater(state: unknown): Rejection {
  if (!(state instanceof RateLimiterRes)) throw state
  return new RetryLater('RATE_LIMITED', retryAfterSeconds(state.msBeforeNext))
}
