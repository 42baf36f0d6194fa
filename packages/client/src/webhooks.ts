import { signaturesEqual, signWebhook, timestampToleranceSeconds } from '@backoffice/contracts/signing'
import type { WebhookEvent } from './types.ts'

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/** The headers of a request: those of Fetch, or an object as Node.js, Express and the clouds' functions have it. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyWebhookOptions {
  /** whsec_…, or several while a secret is being changed. */
  readonly secret: string | readonly string[]
  /** As your server received them; names in any case. */
  readonly headers: WebhookHeaders
  /** The bytes as received, before any JSON parser. */
  readonly rawBody: Uint8Array | ArrayBuffer | string
  /** How far the timestamp may be from `now`, either way. Default 300. */
  readonly toleranceSeconds?: number | undefined
  readonly now?: Date | undefined
}

/**
 * Verifies a delivery and returns its event: some signature of X-Webhook-Signature or X-Webhook-Signatures is made with
 * some secret of yours. Deduplicate on `event.id`, and drop an event whose `data.version` is older than the last one of its
 * type and record.
 * @throws {WebhookVerificationError} a header is missing, no signature matches, or the timestamp is too old or too new
 * @throws {TypeError} no secret is given, or the body was parsed already
 */
export function verifyWebhook({
  secret,
  headers,
  rawBody,
  toleranceSeconds = timestampToleranceSeconds,
  now = new Date(),
}: VerifyWebhookOptions): WebhookEvent {
  const secrets = typeof secret === 'string' ? [secret] : secret
  // With an empty secret everybody could sign.
  if (secrets.length === 0 || secrets.some((each) => !each)) throw new TypeError('no webhook secret is given')
  const body = bytesOf(rawBody)
  const timestamp = header(headers, 'x-webhook-timestamp')
  const received = signaturesIn(headers)
  const matches = secrets.some((each) => {
    const expected = signWebhook(each, { timestamp, body })
    return received.some((signature) => signaturesEqual(expected, signature))
  })
  if (!matches) throw new WebhookVerificationError('the signature does not match')
  const ageSeconds = Math.abs(now.getTime() / 1000 - Number(timestamp))
  if (!/^[0-9]{1,12}$/.test(timestamp) || ageSeconds > toleranceSeconds)
    throw new WebhookVerificationError('the timestamp is outside the tolerance')
  return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as WebhookEvent
}

function bytesOf(rawBody: Uint8Array | ArrayBuffer | string): Uint8Array | string {
  if (typeof rawBody === 'string' || rawBody instanceof Uint8Array) return rawBody
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody)
  throw new TypeError('rawBody is not the bytes as received: verify before the body is parsed')
}

/** That of X-Webhook-Signature, and those of X-Webhook-Signatures, which has one for each secret during a rotation. */
function signaturesIn(headers: WebhookHeaders): string[] {
  // A proxy may have put blanks after the commas.
  const parts = (find(headers, 'x-webhook-signatures') ?? '').split(',').map((part) => part.trim())
  const signatures = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3))
  return signatures.length > 0 ? signatures : [header(headers, 'x-webhook-signature')]
}

function header(headers: WebhookHeaders, name: string): string {
  const value = find(headers, name)
  if (value === undefined) throw new WebhookVerificationError(`the header ${name} is missing`)
  return value
}

function find(headers: WebhookHeaders, name: string): string | undefined {
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined
  const [, value] = Object.entries(headers).find(([candidate]) => candidate.toLowerCase() === name) ?? []
  // Node.js has lists of values in `headersDistinct`. Of a header that was sent twice none is believed.
  return typeof value === 'string' ? value : value?.length === 1 ? value[0] : undefined
}

const isFetchHeaders = (headers: WebhookHeaders): headers is Extract<WebhookHeaders, { get: unknown }> =>
  typeof headers.get === 'function'
