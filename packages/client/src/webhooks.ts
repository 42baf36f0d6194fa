import { signaturesEqual, signWebhook, timestampToleranceSeconds } from '@backoffice/contracts/signing'
import type { WebhookEvent } from './types.ts'

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/**
 * Verifies a delivery and returns its event. Deduplicate on `event.id`, and drop an event whose `data.version` is older
 * than the record you hold.
 * @param headers as your server received them; names in any case
 * @param rawBody the bytes as received, before any JSON parser
 * @throws {WebhookVerificationError} a header is missing, the signature does not match, or the timestamp is too old or too new
 */
export function verifyWebhook({
  secret,
  headers,
  rawBody,
  toleranceSeconds = timestampToleranceSeconds,
  now = new Date(),
}: {
  readonly secret: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly rawBody: Uint8Array | string
  readonly toleranceSeconds?: number
  readonly now?: Date
}): WebhookEvent {
  const timestamp = header(headers, 'x-webhook-timestamp')
  const signature = header(headers, 'x-webhook-signature')
  if (!signaturesEqual(signWebhook(secret, { timestamp, body: rawBody }), signature)) {
    throw new WebhookVerificationError('the signature does not match')
  }
  const ageSeconds = Math.abs(now.getTime() / 1000 - Number(timestamp))
  if (!/^[0-9]{1,12}$/.test(timestamp) || ageSeconds > toleranceSeconds)
    throw new WebhookVerificationError('the timestamp is outside the tolerance')
  const text = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody)
  return JSON.parse(text) as WebhookEvent
}

function header(headers: Readonly<Record<string, string | string[] | undefined>>, name: string): string {
  const entry = Object.entries(headers).find(([candidate]) => candidate.toLowerCase() === name)
  const value = entry?.[1]
  if (typeof value !== 'string') throw new WebhookVerificationError(`the header ${name} is missing`)
  return value
}
