import { connect } from 'node:net'
import { createLogger } from '@backoffice/process'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { createServer } from '../../src/http/app.ts'

t.test('a client that breaks off in its body is no fault of the service, and no alarm', async (t) => {
  const lines: string[] = []
  const app = createServer({ log: createLogger('test', 'warn', { write: (line) => lines.push(line) }) })
  t.teardown(() => app.close())
  app.post('/', async () => 'never')
  const statuses: number[] = []
  let received = 0
  app.addHook('onRequest', async () => {
    received += 1
  })
  app.addHook('onSend', async (_request, reply) => {
    statuses.push(reply.statusCode)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
  await eventually(() => received === 1)
  socket.destroy()
  await eventually(() => statuses.length === 1)
  t.same(statuses, [408])
  t.same(lines, [])
})
