// Node.js 20 or newer; no packages needed.
//   WEBHOOK_SECRET=… PORT=3000 node receive-webhook.mjs
import { createHmac, timingSafeEqual } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

const { WEBHOOK_SECRET, PORT = '3000', EVENTS_FOLDER = 'webhook-events' } = process.env
if (!WEBHOOK_SECRET) {
  console.error('usage: WEBHOOK_SECRET=... PORT=3000 node receive-webhook.mjs')
  process.exit(2)
}
const toleranceSeconds = 300
const bodyBytesMax = 1_048_576

function isGenuine(headers, rawBody) {
  const timestamp = headers['x-webhook-timestamp'] ?? ''
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) return false
  const expected = createHmac('sha256', WEBHOOK_SECRET).update(`${timestamp}.`).update(rawBody).digest()
  const received = Buffer.from(headers['x-webhook-signature'] ?? '', 'hex')
  return received.length === expected.length && timingSafeEqual(received, expected)
}

/**
 * Keeps the event, once. Here it is a file, in your server a row of a table whose key is the id. @returns whether it is new
 * @throws when it cannot be kept: then it must not be acknowledged
 */
function store(id, rawBody) {
  if (!/^evt_\w+$/.test(id)) throw new Error('an event without an id')
  const file = join(EVENTS_FOLDER, id)
  if (existsSync(`${file}.waiting`) || existsSync(`${file}.done`)) return false
  // Under another name until it is whole: the worker must not read half an event.
  writeFileSync(`${file}.new`, rawBody, { mode: 0o600 })
  renameSync(`${file}.new`, `${file}.waiting`)
  return true
}

/** Does the work for what is stored, after the reply, and after a restart for what was left. */
function work() {
  for (const name of readdirSync(EVENTS_FOLDER).filter((name) => name.endsWith('.waiting'))) {
    const file = join(EVENTS_FOLDER, name)
    const event = JSON.parse(readFileSync(file))
    // Your work stands here. It comes twice when the program ends before the rename.
    console.log(`worked on ${event.type} ${event.id}`)
    renameSync(file, file.replace(/waiting$/, 'done'))
  }
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
  const isNew = store(event.id, rawBody)
  // It is kept, so it may be acknowledged. The worker does the rest.
  response.writeHead(200).end()
  console.log(isNew ? `received ${event.type} ${event.id}` : `ignored ${event.id}: received before`)
}

mkdirSync(EVENTS_FOLDER, { recursive: true, mode: 0o700 })
setInterval(() => {
  try {
    work()
  } catch (error) {
    console.error(error.message)
  }
}, 1000)
createServer((request, response) => {
  receive(request, response).catch((error) => {
    console.error(error.message)
    // It is not kept: the delivery is made again.
    response.writeHead(500).end()
  })
}).listen(Number(PORT), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${PORT}/webhooks`))
