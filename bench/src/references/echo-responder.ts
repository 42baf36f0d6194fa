// Takes the place of a service: it replies to each message with the same JSON.
import { connect } from '@nats-io/transport-node'
import './ends-with-parent.ts'

const { natsUrl, subject, body } = JSON.parse(process.argv[2] ?? '') as {
  natsUrl: string
  subject: string
  body: unknown
}

const connection = await connect({
  servers: natsUrl,
  waitOnFirstConnect: true,
  reconnectTimeWait: 100,
  maxReconnectAttempts: 100,
})
connection.subscribe(subject, {
  callback: (_error, message) => {
    // Parsed and serialised, as a service does. To return the bytes would be no work at all.
    const { input } = message.json<{ input: { playerId: string } }>()
    message.respond(JSON.stringify({ body: { ...(body as object), playerId: input.playerId } }))
  },
})
await connection.flush()
process.send?.('ready')
