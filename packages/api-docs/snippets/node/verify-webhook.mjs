// Node.js 20 or newer; no packages needed.
//   WEBHOOK_SECRET=… node verify-webhook.mjs "$X_WEBHOOK_TIMESTAMP" "$X_WEBHOOK_SIGNATURE" < raw-body
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * @param {string} secret
 * @param {string} timestamp
 * @param {Uint8Array} rawBody the bytes as received, before any JSON parser
 * @param {string} signature
 * @param {number} toleranceSeconds by how much the timestamp may differ from your clock
 * @param {number} nowSeconds
 * @returns {boolean}
 */
export function verifyWebhook(
  secret,
  timestamp,
  rawBody,
  signature,
  toleranceSeconds = 300,
  nowSeconds = Date.now() / 1000,
) {
  // Whoever recorded a delivery cannot send it again later.
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds) return false
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest()
  const received = Buffer.from(signature, 'hex')
  return received.length === expected.length && timingSafeEqual(received, expected)
}

function main([timestamp, signature]) {
  const { WEBHOOK_SECRET } = process.env
  if (!timestamp || !signature || !WEBHOOK_SECRET) {
    console.error('usage: WEBHOOK_SECRET=... node verify-webhook.mjs TIMESTAMP SIGNATURE < raw-body')
    process.exit(2)
  }
  const valid = verifyWebhook(WEBHOOK_SECRET, timestamp, readFileSync(0), signature)
  console.log(valid ? 'valid' : 'INVALID')
  process.exitCode = valid ? 0 : 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
