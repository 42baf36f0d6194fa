// In a process of its own: it measures the memory of all of it.

import dns from 'node:dns'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { getSystemErrorMap } from 'node:util'
import { gzipSync } from 'node:zlib'
import { eventually, replyWith, startReceiver, type Teardown } from '@backoffice/test-kit'
import t from 'tap'
import { responseHeadBytesMax } from '../../src/sending/connections.ts'
import { faultInWords } from '../../src/sending/fault-words.ts'
import { createSender, type SenderOptions, systemResolver } from '../../src/sending/sender.ts'

/** A receiver that speaks raw bytes: what it does with a connection is up to the test. */
async function startRawReceiver(
  t: Teardown,
  behave: (socket: Socket) => void,
): Promise<{ url: string; connections: () => number }> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    behave(socket)
  })
  await listen(server)
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, connections: () => sockets.size }
}

/** Answers as soon as the request's head has come. */
const answering = (reply: (socket: Socket) => unknown) => (socket: Socket) => socket.once('data', () => reply(socket))

/** Writes `chunk` every `everyMs`, after what comes `first`, until the connection is gone. */
function drip(socket: Socket, chunk: string, everyMs: number, first = ''): void {
  socket.write(first)
  const timer = setInterval(() => socket.writable && socket.write(chunk), everyMs)
  socket.on('close', () => clearInterval(timer))
}

const certificate = (name: string) => readFileSync(new URL(`./certificates/${name}`, import.meta.url), 'utf8')

/** An https receiver on loopback with one of the test authority's certificates. @returns its port */
async function startTlsReceiver(
  t: Teardown,
  name: 'valid' | 'expired' | 'other-host',
  hosts: string[] = [],
  connected: (socket: Socket) => void = () => {},
): Promise<number> {
  const server = createTlsServer(
    { key: certificate(`${name}.key`), cert: certificate(`${name}.pem`) },
    (request, response) => {
      hosts.push(String(request.headers.host))
      request.resume().on('end', () => response.writeHead(200).end('ok'))
    },
  )
  server.on('secureConnection', connected)
  await listen(server)
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

function listen(server: Server, host = '127.0.0.1'): Promise<void> {
  return new Promise((resolve) => server.listen(0, host, resolve))
}

const options: SenderOptions = {
  policy: { allowLoopback: true },
  resolve: systemResolver,
  // Nothing here waits for it.
  deadlineMs: 3_600_000,
  keptMax: 10,
  ca: certificate('ca.pem'),
}
/** For what only the deadline ends. */
const shortDeadlineMs = 400
const send = createSender(options)
const hasty = createSender({ ...options, deadlineMs: shortDeadlineMs })
const delivery = (url: string, endpointId = 'op_1/sandbox') => ({
  endpointId,
  url,
  headers: { 'X-Webhook-Id': 'evt_1' },
  body: Buffer.from('{"id":"evt_1"}'),
})

t.test('any 2xx acknowledges; the body arrives as it was given', async (t) => {
  for (const code of [200, 201, 202, 204, 299]) {
    const receiver = await startReceiver(t, replyWith(code))
    t.match(await send(delivery(receiver.url)), { responseStatus: code, error: null })
    t.match(receiver.received, [{ id: 'evt_1', body: '{"id":"evt_1"}' }])
  }
})

t.test('anything else is a failure that says what came, and a redirect is not followed', async (t) => {
  const elsewhere = await startReceiver(t)
  const headers = { Location: elsewhere.url, 'Retry-After': '99999999' }
  for (const code of [300, 301, 302, 303, 304, 307, 308, 400, 404, 410, 429, 500, 503]) {
    const receiver = await startReceiver(t, replyWith(code, headers))
    const said = { responseStatus: code, error: `The receiver answered ${code}.`, retryAfter: '99999999' }
    t.match(await send(delivery(receiver.url)), said)
  }
  t.same(elsewhere.received, [])
})

const wholeAnswer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const late = { responseStatus: null, responseHead: null, error: 'No answer within 0.4 s.' }
const taken = { responseStatus: 200, error: null }
const early = ['100 Continue', '102 Processing', '103 Early Hints\r\nLink: </x>', '199 Odd']

/** What a receiver does once the head of a request has come, and what becomes of the attempt. */
const hostile: Readonly<Record<string, readonly [behave: (socket: Socket) => unknown, outcome: object]>> = {
  'that never answers': [() => {}, late],
  'that drips headers': [(socket) => drip(socket, 'x-drip: 1\r\n', 20, 'HTTP/1.1 200 OK\r\n'), late],
  'of an endless run of interim responses': [(socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n', 10), late],
  'that drips the body: the status has been given': [
    (socket) => drip(socket, 'a', 20, 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n'),
    { ...taken, responseHead: /^a+$/ },
  ],
  'of headers without end': [
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      for (let n = 0; n < 2_000; n++) socket.write(`x-${n}: ${'y'.repeat(100)}\r\n`)
      socket.write('\r\n')
    },
    { responseStatus: null, error: 'The response headers are too large.' },
  ],
  'that resets before the answer': [
    (socket) => socket.resetAndDestroy(),
    { responseStatus: null, connectionLost: false, error: /closed the connection before it answered/ },
  ],
  'that resets within the body of a 2xx': [
    (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf', () => socket.resetAndDestroy()),
    taken,
  ],
  'that is a mail server': [(socket) => socket.end('220 mail.example ESMTP\r\n'), { error: 'The answer is not HTTP.' }],
  'that sends a NUL, which could not be stored': [
    (socket) => socket.end('HTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\na\u0000b'),
    { responseHead: 'a?b' },
  ],
  'that switches to a protocol that nobody asked for': [
    (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    { responseStatus: 101, error: 'The receiver answered 101.' },
  ],
  ...Object.fromEntries(
    early.map((interim) => [
      `that sends ${interim.slice(0, 3)}, which nobody asked for`,
      [
        (socket: Socket) => socket.write(`${`HTTP/1.1 ${interim}\r\n\r\n`.repeat(2)}${wholeAnswer}`),
        { ...taken, responseHead: 'ok' },
      ],
    ]),
  ),
}
for (const [which, [behave, outcome]] of Object.entries(hostile))
  t.test(`a receiver ${which}`, async (t) => {
    const receiver = await startRawReceiver(t, answering(behave))
    const isLate = outcome === late
    const made = await (isLate ? hasty : send)(delivery(receiver.url))
    t.match(made, outcome)
    if (isLate) t.ok(made.durationMs >= shortDeadlineMs - 5, `${made.durationMs} ms`)
    if (made.responseHead !== 'ok') await eventually(() => receiver.connections() === 0)
  })

t.test('a body without end is cut at the first KiB, and memory stays flat', async (t) => {
  const chunk = 'x'.repeat(1 << 20)
  const receiver = await startRawReceiver(
    t,
    answering((socket) => {
      socket.write('HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n')
      const pour = () => {
        while (socket.writable && socket.write(`100000\r\n${chunk}\r\n`));
      }
      socket.on('drain', pour)
      pour()
    }),
  )
  const beforeBytes = process.memoryUsage.rss()
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => send(delivery(receiver.url))))
  for (const outcome of outcomes) {
    t.equal(outcome.responseStatus, 500)
    t.equal(outcome.responseHead?.length, responseHeadBytesMax)
  }
  const grownMiB = (process.memoryUsage.rss() - beforeBytes) / 2 ** 20
  t.ok(grownMiB < 256, `${grownMiB.toFixed(0)} MiB, the pouring receivers' own buffers included`)
})

t.test('a compressed body is not inflated', async (t) => {
  const bomb = gzipSync(Buffer.alloc(10_000_000))
  const receiver = await startReceiver(t, (response) =>
    response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb),
  )
  const outcome = await send(delivery(receiver.url))
  t.match(outcome, { responseStatus: 200, error: null })
  t.ok((outcome.responseHead?.length ?? 0) <= responseHeadBytesMax)
})

t.test('a valid certificate is accepted; an expired one, another host and an unknown authority are not', async (t) => {
  const url = (port: number) => `https://localhost:${port}/`
  t.match(await send(delivery(url(await startTlsReceiver(t, 'valid')))), { responseStatus: 200, error: null })
  t.match(await send(delivery(url(await startTlsReceiver(t, 'expired')))), {
    error: "The receiver's certificate has expired.",
  })
  t.match(await send(delivery(url(await startTlsReceiver(t, 'other-host')))), {
    error: "The receiver's certificate is for another host name.",
  })
  const { ca: _, ...wellKnownOnly } = options
  t.match(await createSender(wellKnownOnly)(delivery(url(await startTlsReceiver(t, 'valid')))), {
    error: /certificate/,
  })
})

t.test(
  'the socket goes to the address that was checked: a name that changes its meaning changes nothing',
  async (t) => {
    const hosts: string[] = []
    const port = await startTlsReceiver(t, 'valid', hosts)
    let asked = 0
    const resolve = async () => {
      asked += 1
      return asked === 1 ? ['127.0.0.1'] : ['10.0.0.1']
    }
    const rebinding = createSender({ ...options, resolve })
    // The name is not in any hosts file: only the checked address can have led there.
    t.match(await rebinding(delivery(`https://localhost:${port}/`)), { responseStatus: 200, error: null })
    t.equal(asked, 1, 'resolved once for an attempt')
    t.match(await rebinding(delivery(`https://localhost:${port}/`)), {
      error: /not public \(10\.0\.0\.1\); nothing was sent/,
    })
    t.same(hosts, [`localhost:${port}`])
  },
)

t.test('outside development this machine is refused before any socket is made', async (t) => {
  const strict = createSender({ ...options, policy: { allowLoopback: false }, resolve: async () => ['127.0.0.1'] })
  t.match(await strict(delivery('https://hooks.example.com/')), { error: /not public \(127\.0\.0\.1\)/ })
  t.match(await strict(delivery('https://127.0.0.1:8443/')), { error: 'The URL leads to this machine.' })
  t.match(await strict(delivery('http://hooks.example.com/')), { error: 'The URL must use https.' })
})

t.test('a resolver that hangs does not outlast the deadline', async (t) => {
  const hanging = createSender({ ...options, deadlineMs: shortDeadlineMs, resolve: () => new Promise(() => {}) })
  t.match(await hanging(delivery('http://localhost:1/')), { error: /^No answer within/ })
})

/** Of Node's documentation of tls, "X509 certificate error codes". */
const certificateCodes =
  `UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_CRL UNABLE_TO_DECRYPT_CERT_SIGNATURE UNABLE_TO_DECRYPT_CRL_SIGNATURE
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY CERT_SIGNATURE_FAILURE CRL_SIGNATURE_FAILURE CERT_NOT_YET_VALID CERT_HAS_EXPIRED
  CRL_NOT_YET_VALID CRL_HAS_EXPIRED ERROR_IN_CERT_NOT_BEFORE_FIELD ERROR_IN_CERT_NOT_AFTER_FIELD
  ERROR_IN_CRL_LAST_UPDATE_FIELD ERROR_IN_CRL_NEXT_UPDATE_FIELD DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE CERT_CHAIN_TOO_LONG CERT_REVOKED INVALID_CA
  PATH_LENGTH_EXCEEDED INVALID_PURPOSE CERT_UNTRUSTED CERT_REJECTED HOSTNAME_MISMATCH`.split(/\s+/)

t.test('every code of the resolver, the kernel, TLS and the parser has plain words', (t) => {
  const codes = [
    ...Object.values(dns).filter((value) => typeof value === 'string' && /^E[A-Z]/.test(value)),
    ...[...getSystemErrorMap().values()].map(([name]) => name),
    ...certificateCodes,
    ...[
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'ERR_TLS_CERT_ALTNAME_FORMAT',
      'ERR_TLS_HANDSHAKE_TIMEOUT',
      'ERR_OSSL_EVP_UNSUPPORTED',
    ],
    ...['HPE_INVALID_HEADER_TOKEN', 'HPE_UNEXPECTED_CONTENT_LENGTH', 'HPE_LF_EXPECTED', 'HPE_INVALID_EOF_STATE'],
  ]
  t.ok(codes.length > 100)
  const faults = codes.map((code) => faultInWords(Object.assign(new Error('x'), { code })))
  t.same(
    faults.filter((fault) => !/^[A-Z][^_]+( \(\w+\))?\.$/.test(fault) || fault.startsWith('The attempt failed')),
    [],
  )
  t.end()
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
  await listen(server, '0.0.0.0')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://localhost:${(server.address() as AddressInfo).port}/`, all, open, requests }
}

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
      if (seen === 1) socket.write(wholeAnswer)
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
      socket.end(wholeAnswer)
    }),
  )
  for (let n = 0; n < 5; n++) {
    const outcome = await send(delivery(url))
    t.match(outcome.connectionLost === true ? await send(delivery(url)) : outcome, delivered)
  }
  t.equal(answered, 5)
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
      socket.write(wholeAnswer + wholeAnswer)
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
      socket.write(wholeAnswer)
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
