import { canonicalString, Rejection } from '@backoffice/contracts'
import type { Clock } from '@backoffice/service-runtime'
import type { FastifyRequest } from 'fastify'
import type { CallerAddresses } from './caller-addresses.ts'
import type { CredentialDirectory, KnownCredential } from './credential-directory.ts'
import type { CredentialUses } from './credential-uses.ts'
import type { FailedAuthentications } from './failed-authentications.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { RetryLater, retryAfterSeconds } from './reply.ts'
import { header, rawBody } from './request.ts'
import { isKeyShaped, type Refusal, type SecurityLog } from './security-log.ts'
import { judgeSignature, type SignatureFault, type SignedRequest } from './signed-request.ts'

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
