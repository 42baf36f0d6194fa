import { canonicalString, defined, Rejection } from '@backoffice/contracts'
import type { KeyKind } from '../keys.ts'

// What is wrong with the form of a header, for integrators in the sandbox. A hint looks at nothing but what was sent,
// and repeats none of it: it may be a secret in the wrong place.

export function unknownKey(key: string, keys: KeyKind): Rejection {
  const hint = keyHint(key, keys)
  return hint === undefined ? new Rejection('INVALID_CREDENTIALS') : new Rejection('INVALID_CREDENTIALS', { hint })
}

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
export interface SignedRequest {
  readonly method: string
  readonly path: string
  readonly timestamp: string | undefined
  readonly signature: string | undefined
  readonly body: Uint8Array
}

export type SignatureFault = 'TIMESTAMP_OUT_OF_RANGE' | 'INVALID_SIGNATURE'

/** Helps an integrator to find a mistake. It never shows a signature or a secret, and nothing in production. */
export function explainedRejection(
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
