// The programs that references and cases run as processes of their own (http-references.ts). Its arguments are the name of
// one and its settings, as JSON; its first message says that it is ready.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from '@nats-io/transport-node'
import fastify from 'fastify'

const [, , name, settings = '{}'] = process.argv
const { natsUrl = '', subject = '', path = '/', secret = '', body } = JSON.parse(settings)

const toNats = () =>
  connect({ servers: natsUrl, waitOnFirstConnect: true, reconnectTimeWait: 100, maxReconnectAttempts: 100 })

/** The simplest HTTP server: Fastify with one route and a constant reply. */
async function bare(): Promise<string> {
  const app = fastify()
  app.get(path, async () => body)
  return app.listen({ host: '127.0.0.1', port: 0 })
}

/** Takes the place of the gateway: Fastify checks the signature of each request and sends one request over NATS. */
async function echo(): Promise<string> {
  const connection = await toNats()
  const app = fastify()
  app.get<{ Params: { playerId: string } }>(path, async (request, reply) => {
    const timestamp = String(request.headers['x-timestamp'])
    const digest = createHash('sha256').update('').digest('hex')
    const canonical = `${request.method}\n${request.url}\n${timestamp}\n${digest}`
    const expected = createHmac('sha256', secret).update(canonical).digest('hex')
    const given = String(request.headers['x-signature'])
    if (given.length !== expected.length || !timingSafeEqual(Buffer.from(given), Buffer.from(expected))) {
      return reply.code(401).send({ error: { code: 'INVALID_SIGNATURE' } })
    }
    const message = await connection.request(subject, JSON.stringify({ input: request.params }), { timeout: 8_000 })
    return message.json<{ body: unknown }>().body
  })
  return app.listen({ host: '127.0.0.1', port: 0 })
}

/** Takes the place of a service: it replies to each message with the same JSON. */
async function responder(): Promise<string> {
  const connection = await toNats()
  connection.subscribe(subject, {
    callback: (_error, message) => {
      // Parsed and serialised, as a service does. To return the bytes would be no work at all.
      const { input } = message.json<{ input: { playerId: string } }>()
      message.respond(JSON.stringify({ body: { ...(body as object), playerId: input.playerId } }))
    },
  })
  await connection.flush()
  return 'ready'
}

const reportEveryMs = 20

/** A local receiver of webhooks. Ids that arrived are reported in lists, so that reporting costs less than receiving. */
function receiver(): Promise<string> {
  let arrivals: string[] = []
  setInterval(() => {
    if (arrivals.length === 0) return
    process.send?.(arrivals)
    arrivals = []
  }, reportEveryMs)
  const server = createServer((request, response) => {
    arrivals.push(String(request.headers['x-webhook-id']))
    request.resume()
    request.once('end', () => response.writeHead(204).end())
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  })
}

const programs = { bare, echo, responder, receiver }
export type ProgramName = keyof typeof programs

// It ends when the bench ends, even when the bench was killed and could stop nothing.
process.once('disconnect', () => process.exit())
process.send?.(await programs[name as ProgramName]())
