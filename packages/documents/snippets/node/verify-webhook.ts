// Node.js 22.18 or newer runs this TypeScript as it is; no packages needed. For older ones remove the types.
//   WEBHOOK_SECRET=… node verify-webhook.ts "$X_WEBHOOK_TIMESTAMP" "$X_WEBHOOK_SIGNATURE" < raw-body
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** `rawBody` is the bytes as received, before any JSON parser. Deduplicate on X-Webhook-Id. */
export function verifyWebhook(
  secret: string,
  timestamp: string,
  rawBody: Uint8Array,
  signature: string,
  toleranceSeconds = 300,
  nowSeconds = Date.now() / 1000,
): boolean {
  // Whoever recorded a delivery cannot send it again later.
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds) return false
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest()
  const received = Buffer.from(signature, 'hex')
  return received.length === expected.length && timingSafeEqual(received, expected)
}

function main([timestamp = '', signature = '']: string[]): void {
  const valid = verifyWebhook(process.env.WEBHOOK_SECRET ?? '', timestamp, readFileSync(0), signature)
  console.log(valid ? 'valid' : 'INVALID')
  process.exitCode = valid ? 0 : 1
}

if (process.argv[1] === import.meta.filename) main(process.argv.slice(2))
