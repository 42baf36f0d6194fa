import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { eventually, type Teardown } from '@backoffice/test-kit'
import t from 'tap'
import { responseHeadBytesMax } from '../../src/sending/connections.ts'
import { createSender, type SenderOptions, systemResolver } from '../../src/sending/sender.ts'
import { answering, certificate, startRawReceiver, startTlsReceiver } from './hostile.ts'

const options: SenderOptions = {
  policy: { allowLoopback: true },
  resolve: systemResolver,
  // Nothing here waits for it.
  deadlineMs: 3_600_000,
  keptMax: 10,
  ca: certificate('ca.pem'),
}
const delivery = (url: string, endpointId = 'op_1/sandbox') => ({
  endpointId,
  url,
  headers: {},
  body: Buffer.from('{}'),
})
const delivered = { responseStatus: 200, error: null }

const ok: RequestListener = (request, response) =>
  void request.resume().on('end', () => response.writeHead(200).end('ok'))

/** A receiver on all of loopback that remembers its connections: which are open, and on which each request came. */
async function startCounting(t: Teardown, answer: RequestListener = ok) {
  const [all, open, requests]: [Socket[], Set<Socket>, Socket[]] = [[], new Set(), []]
  const server = createServer((request, response) => {
    requests.push(request.socket)
    answer(request, response)
  })
  server.on('connection', (socket) => {
    all.push(socket)
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://localhost:${(server.address() as AddressInfo).port}/`, all, open, requests }
}

const whole = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** A receiver that answers the first request of each connection, and does something else with the second. */
async function startTwoFaced(t: Teardown, second: (socket: Socket) => void) {
  const requests: number[] = []
  let connections = 0
  const { url } = await startRawReceiver(t, (socket) => {
    const number = ++connections
    let seen = 0
    socket.on('data', () => {
      requests.push(number)
      seen += 1
      if (seen === 1) socket.write(whole)
      else second(socket)
    })
  })
  return { url, requests }
}

t.test('deliveries that follow one another share a connection, over TLS too', async (t) => {
  const send = createSender(options)
  const receiver = await startCounting(t)
  for (let n = 0; n < 3; n++) t.match(await send(delivery(receiver.url)), delivered)
  t.equal(receiver.requests.length, 3)
  t.equal(receiver.all.length, 1)

  const ports = new Set<number | undefined>()
  const port = await startTlsReceiver(t, 'valid', [], (socket) => ports.add(socket.remotePort))
  for (let n = 0; n < 3; n++) t.match(await send(delivery(`https://localhost:${port}/`)), delivered)
  t.equal(ports.size, 1)
})

t.test('a connection carries one request at a time, and only of its endpoint', async (t) => {
  const send = createSender(options)
  const receiver = await startCounting(t)
  for (let round = 0; round < 2; round++)
    await Promise.all(['op_1/sandbox', 'op_1/sandbox', 'op_2/sandbox'].map((id) => send(delivery(receiver.url, id))))
  t.equal(receiver.requests.length, 6)
  t.equal(receiver.all.length, 3)
  await send(delivery(receiver.url, 'op_3/sandbox'))
  t.equal(receiver.all.length, 4)
})

for (const [how, close] of [
  ['closes', (socket: Socket) => socket.end()],
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
] as const)
  t.test(`a receiver that ${how} kept connections as one is used gets the next attempt over a new one`, async (t) => {
    const send = createSender(options)
    const receiver = await startTwoFaced(t, close)
    await Promise.all([send(delivery(receiver.url)), send(delivery(receiver.url))])
    const lost = {
      responseStatus: null,
      connectionLost: true,
      error: /^The receiver closed the connection of an earlier/,
    }
    t.match(await send(delivery(receiver.url)), lost)
    t.match(await send(delivery(receiver.url)), delivered)
    t.same(receiver.requests.toSorted(), receiver.requests[2] === 1 ? [1, 1, 2, 3] : [1, 2, 2, 3])
  })

t.test('a receiver that closes after each answer, without saying so, gets each delivery', async (t) => {
  const send = createSender(options)
  let answered = 0
  const { url } = await startRawReceiver(
    t,
    answering((socket) => {
      answered += 1
      socket.end(whole)
    }),
  )
  for (let n = 0; n < 5; n++) {
    const outcome = await send(delivery(url))
    t.match(outcome.connectionLost === true ? await send(delivery(url)) : outcome, delivered)
  }
  t.equal(answered, 5)
})

t.test('a new connection that is reset is a failure like any other', async (t) => {
  const send = createSender(options)
  const { url } = await startRawReceiver(
    t,
    answering((socket) => socket.resetAndDestroy()),
  )
  t.match(await send(delivery(url)), { error: /closed the connection before it answered/, connectionLost: false })
})

t.test('a kept connection that breaks off within an answer, or stays silent, is not tried again', async (t) => {
  const settings = { ...options }
  const send = createSender(settings)
  const broken = await startTwoFaced(t, (socket) => socket.end('HTTP/1.1 2'))
  t.match(await send(delivery(broken.url)), delivered)
  t.match(await send(delivery(broken.url)), { responseStatus: null })
  t.same(broken.requests, [1, 1])
  const silent = await startTwoFaced(t, () => {})
  t.match(await send(delivery(silent.url)), delivered)
  settings.deadlineMs = 300
  t.match(await send(delivery(silent.url)), { error: /^No answer within/ })
  await eventually(() => silent.requests.length > 1)
  t.same(silent.requests, [1, 1])
  settings.deadlineMs = options.deadlineMs
  t.match(await send(delivery(silent.url)), delivered)
  t.same(silent.requests, [1, 1, 2])
})

t.test("an answer that is more than was asked for is nobody else's", async (t) => {
  const send = createSender(options)
  const requests: Socket[] = []
  const { url } = await startRawReceiver(t, (socket) =>
    socket.on('data', () => {
      requests.push(socket)
      socket.write(whole + whole)
    }),
  )
  for (let n = 0; n < 3; n++) t.match(await send(delivery(url)), delivered)
  t.equal(requests.length, 3)
  t.equal(new Set(requests).size, 3)
})

t.test("an answer that comes later than the one that was asked for is nobody else's", async (t) => {
  const send = createSender(options)
  let late: (() => void) | undefined
  const requests: Socket[] = []
  const { url, connections } = await startRawReceiver(t, (socket) =>
    socket.on('data', () => {
      requests.push(socket)
      socket.write(whole)
      late = () => socket.write('HTTP/1.1 500 Late\r\nContent-Length: 0\r\n\r\n')
    }),
  )
  t.match(await send(delivery(url)), delivered)
  late?.()
  await eventually(() => connections() === 0)
  t.match(await send(delivery(url)), delivered)
  t.equal(new Set(requests).size, 2)
})

t.test('what is not read to its end closes the connection; so does a receiver that says so', async (t) => {
  const send = createSender(options)
  const large = await startCounting(t, (_request, response) => response.end('x'.repeat(responseHeadBytesMax + 1)))
  const closing = await startCounting(t, (_request, response) => response.writeHead(200, { Connection: 'close' }).end())
  for (const { url, all, requests } of [large, closing]) {
    for (let n = 0; n < 2; n++) t.match(await send(delivery(url)), delivered)
    t.equal(requests.length, 2)
    t.equal(all.length, 2)
  }
  await eventually(() => large.open.size === 0 && closing.open.size === 0)
  const fits = await startCounting(t, (_request, response) => response.end('x'.repeat(responseHeadBytesMax)))
  for (let n = 0; n < 2; n++) t.match(await send(delivery(fits.url)), delivered)
  t.equal(fits.all.length, 1)
})

t.test('a connection serves only while its address is among those that were just checked', async (t) => {
  let addresses = ['127.0.0.1']
  const send = createSender({ ...options, resolve: async () => addresses })
  const receiver = await startCounting(t)
  const post = async () => {
    const outcome = await send(delivery(receiver.url))
    return outcome.error ?? receiver.requests.at(-1)?.localAddress
  }
  t.equal(await post(), '127.0.0.1')
  addresses = ['127.0.0.2', '127.0.0.1']
  t.equal(await post(), '127.0.0.1')
  t.equal(receiver.all.length, 1)
  addresses = ['127.0.0.2']
  t.equal(await post(), '127.0.0.2')
  await eventually(() => receiver.open.size === 1)
  addresses = ['127.0.0.2', '10.0.0.1']
  t.match(await post(), /not public/)
  await eventually(() => receiver.open.size === 0)
  t.equal(receiver.requests.length, 3)
})

t.test('so many connections are kept in all, each for so long', async (t) => {
  const receiver = await startCounting(t)
  const few = createSender({ ...options, keptMax: 2 })
  const ids = ['op_1/sandbox', 'op_2/sandbox', 'op_3/sandbox']
  await Promise.all(ids.map((id) => few(delivery(receiver.url, id))))
  t.equal(receiver.all.length, 3)
  await eventually(() => receiver.open.size === 2)

  const idle = await startCounting(t)
  await createSender({ ...options, idleMsMax: 20 })(delivery(idle.url))
  await eventually(() => idle.all.length === 1 && idle.open.size === 0)

  const old = await startCounting(t)
  const renewing = createSender({ ...options, ageMsMax: 0 })
  for (let n = 0; n < 2; n++) t.match(await renewing(delivery(old.url)), delivered)
  t.equal(old.all.length, 2)
  await eventually(() => old.open.size === 1)
})
