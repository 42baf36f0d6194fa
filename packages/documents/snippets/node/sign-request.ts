// Node.js 22.18 or newer runs this TypeScript as it is; no packages needed. For older ones remove the types.
//   BASE_URL=… OPERATOR_KEY=… OPERATOR_SECRET=… node sign-request.ts GET /me
//   … node sign-request.ts POST /players '{"externalId":"user-42", …}' my-idempotency-key-1
import { createHash, createHmac } from 'node:crypto'

/** `path` is what is really sent: with the /api/v1 prefix and the query string. `body` is '' when there is none. */
export function signRequest(secret: string, method: string, path: string, timestamp: string, body: string): string {
  const bodySha256 = createHash('sha256').update(body).digest('hex')
  const canonical = [method, path, timestamp, bodySha256].join('\n')
  return createHmac('sha256', secret).update(canonical).digest('hex')
}

async function main([method = 'GET', route = '/me', body = '', idempotencyKey = '']: string[]): Promise<void> {
  const { BASE_URL = '', OPERATOR_KEY = '', OPERATOR_SECRET = '' } = process.env
  const url = new URL(BASE_URL + route)
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers: Record<string, string> = {
    'X-Operator-Key': OPERATOR_KEY,
    'X-Timestamp': timestamp,
    'X-Signature': signRequest(OPERATOR_SECRET, method, url.pathname + url.search, timestamp, body),
  }
  if (body !== '') headers['Content-Type'] = 'application/json'
  if (idempotencyKey !== '') headers['Idempotency-Key'] = idempotencyKey
  const response = await fetch(url, { method, headers, ...(body === '' ? {} : { body }) })
  console.log(response.status, await response.text())
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2))
