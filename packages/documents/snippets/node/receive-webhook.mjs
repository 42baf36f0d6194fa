// Node.js 20 or newer; no packages needed.
//   WEBHOOK_SECRET=… PORT=3000 node receive-webhook.mjs
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const { WEBHOOK_SECRET, PORT = '3000' } = process.env
if (!WEBHOOK_SECRET) {
  console.error('usage: WEBHOOK_SECRET=... PORT=3000 node receive-webhook.mjs')
  process.exit(2)
}
const toleranceSeconds = 300
const bodyBytesMax = 1_048_576
// In your server this is a table with a unique column, so that a restart forgets nothing.
const seen = new Set()

function isGenuine(headers, rawBody) {
  const timestamp = headers['x-webhook-timestamp'] ?? ''
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) return false
  const expected = createHmac('sha256', WEBHOOK_SECRET).update(`${timestamp}.`).update(rawBody).digest()
  const received = Buffer.from(headers['x-webhook-signature'] ?? '', 'hex')
  return received.length === expected.length && timingSafeEqual(received, expected)
}

/** The bytes as received: a parsed and re-serialised body has another signature. */
async function readBody(request) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes <= bodyBytesMax) chunks.push(chunk)
  }
  return bytes <= bodyBytesMax ? Buffer.concat(chunks) : undefined
}

async function receive(request, response) {
  const rawBody = await readBody(request)
  if (rawBody === undefined) return response.writeHead(413).end()
  if (!isGenuine(request.headers, rawBody)) {
    console.log('refused: wrong signature, or a timestamp more than 5 minutes off')
    return response.writeHead(401).end()
  }
  const event = JSON.parse(rawBody)
  // Delivery is at least once. The id in the body is signed, the one in the header is not.
  const isNew = !seen.has(event.id)
  seen.add(event.id)
  response.writeHead(200).end()
  // Answered. Work that takes time begins here.
  console.log(isNew ? `received ${event.type} ${event.id}` : `ignored ${event.id}: received before`)
}

createServer((request, response) => {
  receive(request, response).catch((error) => {
    console.error(error)
    response.destroy()
  })
}).listen(Number(PORT), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${PORT}/webhooks`))
