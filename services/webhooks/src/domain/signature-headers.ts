import { signWebhook } from '@backoffice/contracts'

export interface SigningSecret {
  readonly secret: string
  readonly createdAt: Date
  /** Null for the current secret. A former secret signs until then. */
  readonly expiresAt: Date | null
}

/** Carries a signature per valid secret, as `t=<timestamp>,v1=<hex>[,v1=<hex>…]`, newest first. */
const signaturesHeader = 'X-Webhook-Signatures'

const endOf = ({ expiresAt }: Pick<SigningSecret, 'expiresAt'>) => expiresAt?.getTime() ?? Number.MAX_SAFE_INTEGER

/** The secrets that sign at `now`, newest first. */
function validSecrets<S extends Pick<SigningSecret, 'createdAt' | 'expiresAt'>>(secrets: readonly S[], now: Date): S[] {
  return secrets
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || endOf(b) - endOf(a))
}

/**
 * The signing headers of one attempt, new for each. X-Webhook-Signature keeps the oldest secret that is still valid, so a
 * verifier that knows one secret never breaks during a rotation; X-Webhook-Signatures is made with every valid one.
 */
export function signatureHeaders(delivery: {
  readonly eventId: string
  readonly body: Uint8Array
  readonly secrets: readonly SigningSecret[]
  readonly now: Date
}): Record<string, string> {
  const timestamp = String(Math.floor(delivery.now.getTime() / 1000))
  const signatures = validSecrets(delivery.secrets, delivery.now).map(({ secret }) =>
    signWebhook(secret, { timestamp, body: delivery.body }),
  )
  const oldest = signatures.at(-1)
  if (oldest === undefined) throw new Error('an endpoint has no valid secret')
  return {
    'X-Webhook-Id': delivery.eventId,
    'X-Webhook-Timestamp': timestamp,
    'X-Webhook-Signature': oldest,
    [signaturesHeader]: [`t=${timestamp}`, ...signatures.map((signature) => `v1=${signature}`)].join(','),
  }
}

/**
 * When the former secrets stop signing after a rotation. A secret that was to expire earlier still does, so a second
 * rotation within the overlap prolongs nothing.
 */
export function expiryAfterRotation(
  expiresAt: Date | null,
  { now, overlapMs }: { now: Date; overlapMs: number },
): Date {
  const end = new Date(now.getTime() + overlapMs)
  return expiresAt !== null && expiresAt < end ? expiresAt : end
}
