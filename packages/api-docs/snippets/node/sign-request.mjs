// Node.js 20 or newer; no packages needed.
//   BASE_URL=… OPERATOR_KEY=… OPERATOR_SECRET=… node sign-request.mjs GET /me
//   … node sign-request.mjs POST /players '{"externalId":"user-42", …}' my-idempotency-key-1
import { createHash, createHmac } from 'node:crypto'
import { fileURLToPath } from 'node:url'

/**
 * @param {string} secret
 * @param {string} method
 * @param {string} path what is really sent: with the /api/v1 prefix and the query string
 * @param {string} timestamp epoch seconds
 * @param {string} body '' when there is none
 * @returns {string}
 */
export function signRequest(secret, method, path, timestamp, body) {
  const bodySha256 = createHash('sha256').update(body).digest('hex')
  const canonical = [method, path, timestamp, bodySha256].join('\n')
  return createHmac('sha256', secret).update(canonical).digest('hex')
}

async function main([method, route, body = '', idempotencyKey = '']) {
  const { BASE_URL, OPERATOR_KEY, OPERATOR_SECRET } = process.env
  if (!method || !route || !BASE_URL || !OPERATOR_KEY || !OPERATOR_SECRET) {
    console.error(
      'usage: BASE_URL=... OPERATOR_KEY=... OPERATOR_SECRET=... node sign-request.mjs METHOD PATH [BODY [IDEMPOTENCY_KEY]]',
    )
    process.exit(2)
  }
  const url = new URL(BASE_URL + route)
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = {
    'X-Operator-Key': OPERATOR_KEY,
    'X-Timestamp': timestamp,
    'X-Signature': signRequest(OPERATOR_SECRET, method, url.pathname + url.search, timestamp, body),
  }
  if (body !== '') headers['Content-Type'] = 'application/json'
  if (idempotencyKey !== '') headers['Idempotency-Key'] = idempotencyKey
  const response = await fetch(url, { method, headers, ...(body === '' ? {} : { body }) })
  console.log(response.status, await response.text())
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
