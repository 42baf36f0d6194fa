// Takes the place of the gateway: Fastify checks the signature of each request and sends one request over NATS.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { connect } from '@nats-io/transport-node'
import fastify from 'fastify'
import './ends-with-parent.ts'

const { natsUrl, subject, path, secret } = JSON.parse(process.argv[2] ?? '') as {
  natsUrl: string
  subject: string
  path: string
  secret: string
}

const connection = await connect({
  servers: natsUrl,
  waitOnFirstConnect: true,
  reconnectTimeWait: 100,
  maxReconnectAttempts: 100,
})
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
const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.(address)
