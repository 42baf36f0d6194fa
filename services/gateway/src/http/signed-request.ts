// Rules.

import { signaturesEqual, signRequest, timestampToleranceSeconds } from '@backoffice/contracts'

/** What is signed of a request, as it came over the wire. */
export interface SignedRequest {
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

export type SignatureFault = 'TIMESTAMP_OUT_OF_RANGE' | 'INVALID_SIGNATURE'

/**
 * Judges a request against the secret of its key.
 * @returns the code to refuse with, or null: TIMESTAMP_OUT_OF_RANGE before INVALID_SIGNATURE
 */
export function judgeSignature(request: SignedRequest, secret: string, now: Date): SignatureFault | null {
  const { method, path, timestamp, signature, body } = request
  if (timestamp === undefined || !isTimely(timestamp, now)) return 'TIMESTAMP_OUT_OF_RANGE'
  if (signature === undefined) return 'INVALID_SIGNATURE'
  return signaturesEqual(signRequest(secret, { method, path, timestamp, body }), signature) ? null : 'INVALID_SIGNATURE'
}
