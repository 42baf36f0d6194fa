// Receives webhooks: verifies each over its raw bytes, keeps it, answers, and then works from what is kept. So a crash at
// any moment loses no event and repeats no effect.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from '@backoffice/client'
import { setting } from './settings.ts'

const secret = setting('WEBHOOK_SECRET')
const bodyBytesMax = 1_048_576
/** How soon work that failed is tried again. */
const retryDelayMs = 1_000

// Events tell of players, so nobody else on this machine reads the file.
process.umask(0o077)
// In your server these are tables of its own database. With "synchronous" a commit that has returned survives a power cut.
const database = new DatabaseSync(process.env.EVENTS_FILE ?? 'webhook-events.db', { timeout: 5_000 })
database.exec(`
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table if not exists event (id text primary key not null, body text) strict;
  create index if not exists event_waiting on event (id) where body is not null;
  create table if not exists record (id text primary key not null, status text not null, version integer not null) strict;
`)
const keep = database.prepare('insert into event (id, body) values (?, ?) on conflict (id) do nothing')
const waiting = database.prepare('select id from event where body is not null order by rowid')
const read = database.prepare('select body from event where id = ? and body is not null')
// The id stays, to know the event again.
const forgetBody = database.prepare('update event set body = null where id = ?')
// Order is not promised: an event that was delayed must not undo what a later one told.
const writeRecord = database.prepare(`
  insert into record (id, status, version) values (?, ?, ?)
  on conflict (id) do update set status = excluded.status, version = excluded.version
  where excluded.version >= record.version
`)

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
    case 'player.status_changed':
      return { id: `${event.data.playerId} status`, status: event.data.status, version: event.data.version }
    case 'player.limit_changed': {
      const { playerId, dailyDepositLimit, version } = event.data
      return { id: `${playerId} limit`, status: dailyDepositLimit ?? 'none', version }
    }
    case 'deposit.confirmed':
    case 'withdrawal.status_changed':
      return event.data
    case 'play.day_closed':
      return { id: `${event.brandId} ${event.data.day}`, status: 'closed', version: event.data.version }
    case 'webhook.test':
      return undefined
    default:
      // The compiler names a kind that is missing above. At run time this is one that is newer than this program.
      event satisfies never
      return undefined
  }
}

/** What the event means to us, in one sentence: your own work belongs here. */
function work(event: WebhookEvent): string {
  const record = recordOf(event)
  if (record === undefined) return 'nothing to do'
  const { id, status, version } = record
  const { changes } = writeRecord.run(id, status, version)
  if (changes === 0) return `dropped, version ${version} of ${id} is older than ours`
  return `${id} is ${status}, version ${version}`
}

/**
 * Does the work for an event that is kept. The work and the note that it is done are one transaction: after a crash both
 * are there, or neither. Work that leaves this database, such as a payment, can come twice: let the event's id name it there.
 */
function workOn(id: string): void {
  database.exec('begin immediate')
  const kept = read.get(id)
  // Another process has done it meanwhile.
  if (kept === undefined) return void database.exec('rollback')
  const event = JSON.parse(String(kept.body)) as WebhookEvent
  const outcome = work(event)
  forgetBody.run(id)
  database.exec('commit')
  console.log(event.type, id, outcome)
}

/** Works on what is kept, also by a former run of this program. An event whose work fails does not hold up the others. */
function workOnAll(): void {
  for (const { id } of waiting.all()) {
    try {
      workOn(String(id))
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      console.error(`${id} is tried again: ${error}`)
    }
  }
}

const server = createServer(async (request, response) => {
  try {
    const rawBody = await readBody(request)
    const event = verifyWebhook({ secret, headers: request.headers, rawBody })
    // Delivery is at least once. `id` equals the header X-Webhook-Id, which is not signed; this one is. The sender does not
    // send again what was acknowledged, so first it is kept. What cannot be kept is answered 500, and comes again.
    const { changes } = keep.run(event.id, rawBody.toString())
    response.writeHead(204).end()
    if (changes === 0) console.log(event.type, event.id, 'dropped, received before')
    else setImmediate(workOnAll)
  } catch (error) {
    const status = error instanceof WebhookVerificationError ? 401 : error instanceof TooLarge ? 413 : 500
    console.error(`answered ${status}: ${error}`)
    response.writeHead(status).end()
  }
})

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`)
  workOnAll()
  setInterval(workOnAll, retryDelayMs)
})
