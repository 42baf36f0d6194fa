import { once } from 'node:events'
import { connect } from 'node:net'
import fastify from 'fastify'
import t from 'tap'
import { HttpListener, httpFrame } from '../src/http.ts'
import { createLogger } from '../src/log.ts'

t.test('who has a last reply, and then falls silent or sends on without end, is closed', async (t) => {
  const app = fastify(httpFrame({ bodyBytesMax: 1, requestTimeoutMs: 60_000 }))
  app.post('/', async () => 'never')
  const log = createLogger('test', 'silent')
  const listener = new HttpListener({ app, host: '127.0.0.1', port: 0, connectionsMax: 10, log })
  await listener.start()
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000000000\r\n\r\n'
  const chunk = Buffer.alloc(1_000_000)
  for (const sendsOn of [false, true]) {
    const accepted = once(app.server, 'connection')
    const socket = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('utf8')
    const [served] = await accepted
    const closed = once(served, 'close')
    socket.on('error', () => {}).write(head)
    const [text] = await once(socket, 'data')
    t.match(text, /^HTTP\/1\.1 4/)
    const send = () => socket.writable && socket.write(chunk, send)
    if (sendsOn) send()
    await closed
    t.equal(served.bytesRead > 10_000_000, sendsOn, `${served.bytesRead} bytes were read`)
    socket.destroy()
  }
  await listener.stop()
})

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
