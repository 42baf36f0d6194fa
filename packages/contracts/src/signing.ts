import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** Seconds by which X-Timestamp may differ from the server's clock, either way. */
export const timestampToleranceSeconds = 300

export interface SignedRequest {
  readonly method: string
  /** As sent: with the /api/v1 prefix and the query string, if any. */
  readonly path: string
  /** The value of X-Timestamp: epoch seconds. */
  readonly timestamp: string
  /** The bytes as sent; empty when there is no body. */
  readonly body: string | Uint8Array
}

export function bodySha256(body: string | Uint8Array): string {
  return body.length === 0 ? sha256OfNothing : hash('sha256', body)
}

const sha256OfNothing = hash('sha256', '')

/** The four fields of a request that are signed, joined by LF (specification, Authentication). */
export function canonicalString(request: SignedRequest): string {
  return [request.method.toUpperCase(), request.path, request.timestamp, bodySha256(request.body)].join('\n')
}

/** X-Signature: lowercase hex HMAC-SHA256 with the operator secret over the canonical string. */
export function signRequest(secret: string, request: SignedRequest): string {
  return createHmac('sha256', secret).update(canonicalString(request)).digest('hex')
}

/** X-Webhook-Signature: lowercase hex HMAC-SHA256 with the webhook secret over timestamp, a dot, and the raw body. */
export function signWebhook(
  secret: string,
  delivery: { readonly timestamp: string; readonly body: string | Uint8Array },
): string {
  return createHmac('sha256', secret).update(`${delivery.timestamp}.`).update(delivery.body).digest('hex')
}

/** Compares two signatures in constant time; only lowercase hex of the right length can match. */
export function signaturesEqual(expected: string, received: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(received)) return false
  return timingSafeEqual(Buffer.from(expected), Buffer.from(received))
}
