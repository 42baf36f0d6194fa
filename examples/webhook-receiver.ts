// Receives webhooks: verifies each over its raw bytes, keeps it once, answers at once, and works afterwards.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from '@backoffice/client'
import { setting } from './settings.ts'

const secret = setting('WEBHOOK_SECRET')
const bodyBytesMax = 1_048_576

// In your server these are tables, so that a restart forgets nothing. Insert the event before you answer: the sender
// does not send again what was acknowledged.
const eventIds = new Set<string>()
const newestVersions = new Map<string, number>()

class TooLarge extends Error {}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes <= bodyBytesMax) chunks.push(chunk)
  }
  if (bytes > bodyBytesMax) throw new TooLarge()
  return Buffer.concat(chunks)
}

/** The record that an event tells of; none for a test, and for a kind of event that is newer than this program. */
function recordOf(event: WebhookEvent) {
  switch (event.type) {
    case 'kyc.status_changed':
      return { id: event.data.playerId, status: event.data.kycStatus, version: event.data.version }
    case 'deposit.confirmed':
    case 'withdrawal.status_changed':
      return event.data
    case 'webhook.test':
      return undefined
    default:
      // The compiler finds a kind that is missing above; at run time this is a kind that is newer than this program.
      event satisfies never
      return undefined
  }
}

/** What the event means to us, in one sentence: your own work belongs here. */
function work(event: WebhookEvent): string {
  const record = recordOf(event)
  if (record === undefined) return 'nothing to do'
  const { id, status, version } = record
  // Order is not promised: an event that was delayed must not undo what a later one told.
  if (version < (newestVersions.get(id) ?? 0)) return `dropped, version ${version} of ${id} is older than ours`
  newestVersions.set(id, version)
  return `${id} is ${status}, version ${version}`
}

const server = createServer(async (request, response) => {
  try {
    const event = verifyWebhook({ secret, headers: request.headers, rawBody: await readBody(request) })
    // Delivery is at least once. `id` equals the header X-Webhook-Id, which is not signed; this one is.
    const isNew = !eventIds.has(event.id)
    eventIds.add(event.id)
    response.writeHead(204).end()
    // Whatever fails from here on is ours to repeat.
    setImmediate(() => console.log(event.type, event.id, isNew ? work(event) : 'dropped, received before'))
  } catch (error) {
    const status = error instanceof WebhookVerificationError ? 401 : error instanceof TooLarge ? 413 : 500
    console.error(`answered ${status}: ${error}`)
    response.writeHead(status).end()
  }
})

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`)
})
