import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { HttpConnection, NoReplyError } from '../../src/load/http-connection.ts'

/** A server that sends the next of these replies to each request, in the pieces given. */
async function replying(t: Test, replies: readonly (readonly string[] | 'close')[]): Promise<HttpConnection> {
  let next = 0
  const server = createServer((socket) => {
    socket.on('data', () => reply(socket, replies[next++] ?? 'close'))
    socket.on('error', () => {})
  })
  const reply = async (socket: Socket, pieces: readonly string[] | 'close') => {
    if (pieces === 'close') return socket.destroy()
    for (const piece of pieces) {
      socket.write(piece)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const connection = new HttpConnection({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  t.teardown(() => {
    connection.close()
    server.close()
  })
  return connection
}

const request = 'GET / HTTP/1.1\r\nHost: bench\r\n\r\n'

t.test('a reply is complete however it is cut', async (t) => {
  const connection = await replying(t, [
    ['HTTP/1.1 201 Created\r\nContent-Le', 'ngth: 5\r\nIdempotent-Replayed: true\r\n', '\r\nhel', 'lo'],
    ['HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'],
  ])
  const first = await connection.send(request)
  t.equal(first.status, 201)
  t.equal(first.body.toString(), 'hello')
  t.match(first.head, /Idempotent-Replayed: true/)
  t.equal((await connection.send(request)).status, 404)
})

t.test('a connection that ends fails its request, and the next request opens another', async (t) => {
  const connection = await replying(t, ['close', ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}']])
  await t.rejects(connection.send(request), NoReplyError)
  t.equal((await connection.send(request)).status, 200)
})

t.test('a reply without a length is rejected', async (t) => {
  const connection = await replying(t, [['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n']])
  await t.rejects(connection.send(request), NoReplyError)
})
