import { once } from 'node:events'
import { connect } from 'node:net'
import fastify from 'fastify'
import t from 'tap'
import { HttpListener, httpFrame } from '../src/http.ts'
import { createLogger } from '../src/log.ts'

t.test('a listener that ends finishes its requests, and waits for no connection that has brought none', async (t) => {
  const app = fastify(httpFrame({ bodyBytesMax: 1, requestTimeoutMs: 60_000 }))
  const [held, reply] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()]
  app.get('/', async () => 'at once')
  app.get('/held', () => {
    held.resolve()
    return reply.promise
  })
  const log = createLogger('test', 'silent')
  const listener = new HttpListener({ app, host: '127.0.0.1', port: 0, connectionsMax: 10, log })
  await listener.start()
  const connection = (bytes: string) => {
    const socket = connect(listener.port, '127.0.0.1').setEncoding('utf8')
    socket.write(bytes)
    return socket
  }
  const [unused, idle, busy] = [
    connection(''),
    connection('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    connection('GET /held HTTP/1.1\r\nHost: x\r\n\r\n'),
  ]
  await Promise.all([once(unused, 'connect'), once(idle, 'data'), held.promise])

  listener.leave()
  const stopped = listener.stop()
  await Promise.all([unused, idle].map((socket) => once(socket.resume(), 'close')))
  reply.resolve('in the end')
  const [text] = await once(busy, 'data')
  t.match(text, /^HTTP\/1\.1 200 [\s\S]*in the end$/)
  await stopped
})
