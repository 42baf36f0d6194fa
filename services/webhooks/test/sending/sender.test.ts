// In a process of its own: it measures the memory of all of it.

import dns from 'node:dns'
import { getSystemErrorMap } from 'node:util'
import { gzipSync } from 'node:zlib'
import { eventually, replyWith, startReceiver } from '@backoffice/test-kit'
import t from 'tap'
import { responseHeadBytesMax } from '../../src/sending/connections.ts'
import { faultInWords } from '../../src/sending/fault-words.ts'
import { createSender, systemResolver } from '../../src/sending/sender.ts'
import { answering, certificate, drip, startRawReceiver, startTlsReceiver } from './hostile.ts'

/** Nothing here waits for it. */
const deadlineMs = 3_600_000
/** For what only the deadline ends. */
const shortDeadlineMs = 400
const options = {
  policy: { allowLoopback: true },
  resolve: systemResolver,
  deadlineMs,
  keptMax: 10,
  ca: certificate('ca.pem'),
}
/** Of Node's documentation of tls, "X509 certificate error codes". */
const certificateCodes = [
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_CRL',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_DECRYPT_CRL_SIGNATURE',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'CERT_SIGNATURE_FAILURE',
  'CRL_SIGNATURE_FAILURE',
  'CERT_NOT_YET_VALID',
  'CERT_HAS_EXPIRED',
  'CRL_NOT_YET_VALID',
  'CRL_HAS_EXPIRED',
  'ERROR_IN_CERT_NOT_BEFORE_FIELD',
  'ERROR_IN_CERT_NOT_AFTER_FIELD',
  'ERROR_IN_CRL_LAST_UPDATE_FIELD',
  'ERROR_IN_CRL_NEXT_UPDATE_FIELD',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_CHAIN_TOO_LONG',
  'CERT_REVOKED',
  'INVALID_CA',
  'PATH_LENGTH_EXCEEDED',
  'INVALID_PURPOSE',
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'HOSTNAME_MISMATCH',
]

const send = createSender(options)
const hasty = createSender({ ...options, deadlineMs: shortDeadlineMs })
const delivery = (url: string) => ({
  endpointId: 'op_1/sandbox',
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

t.test('anything else is a failure that says what came', async (t) => {
  for (const code of [300, 304, 400, 404, 410, 429, 500, 503]) {
    const receiver = await startReceiver(t, replyWith(code))
    t.match(await send(delivery(receiver.url)), { responseStatus: code, error: `The receiver answered ${code}.` })
  }
})

t.test('a redirect is not followed, whatever its code', async (t) => {
  const elsewhere = await startReceiver(t)
  for (const code of [301, 302, 303, 307, 308]) {
    const receiver = await startReceiver(t, replyWith(code, { Location: elsewhere.url }))
    t.match(await send(delivery(receiver.url)), { responseStatus: code, error: /answered 30/ })
  }
  t.same(elsewhere.received, [])
})

t.test('Retry-After is handed on', async (t) => {
  const receiver = await startReceiver(t, replyWith(503, { 'Retry-After': '99999999' }))
  t.match(await send(delivery(receiver.url)), { responseStatus: 503, retryAfter: '99999999' })
})

t.test('a receiver that never answers is left at the deadline', async (t) => {
  const receiver = await startRawReceiver(t, (socket) => socket.resume())
  const outcome = await hasty(delivery(receiver.url))
  t.match(outcome, { responseStatus: null, responseHead: null, error: 'No answer within 0.4 s.' })
  t.ok(outcome.durationMs >= shortDeadlineMs - 5, `${outcome.durationMs} ms`)
  await eventually(() => receiver.connections() === 0)
})

t.test('a slow drip of headers does not outlast the deadline', async (t) => {
  const receiver = await startRawReceiver(
    t,
    answering((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      drip(socket, 'x-drip: 1\r\n', 20)
    }),
  )
  t.match(await hasty(delivery(receiver.url)), { responseStatus: null, error: /^No answer within/ })
  await eventually(() => receiver.connections() === 0)
})

t.test('an endless run of interim responses does not outlast the deadline', async (t) => {
  const receiver = await startRawReceiver(
    t,
    answering((socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n', 10)),
  )
  t.type((await hasty(delivery(receiver.url))).error, 'string')
  await eventually(() => receiver.connections() === 0)
})

t.test(
  'interim responses that nobody asked for change nothing; a protocol that nobody asked for is an answer',
  async (t) => {
    for (const interim of ['100 Continue', '102 Processing', '103 Early Hints\r\nLink: </x>', '199 Odd']) {
      const bytes = `HTTP/1.1 ${interim}\r\n\r\n`
      const whole = `${bytes}${bytes}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`
      const receiver = await startRawReceiver(
        t,
        answering((socket) => socket.write(whole)),
      )
      t.match(await send(delivery(receiver.url)), { responseStatus: 200, responseHead: 'ok', error: null }, interim)
    }
    const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
    const receiver = await startRawReceiver(
      t,
      answering((socket) => socket.write(switching)),
    )
    t.match(await send(delivery(receiver.url)), { responseStatus: 101, error: 'The receiver answered 101.' })
  },
)

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

t.test('a slow drip of the body holds nothing: the status has been given', async (t) => {
  const receiver = await startRawReceiver(
    t,
    answering((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n')
      drip(socket, 'a', 20)
    }),
  )
  t.match(await send(delivery(receiver.url)), { responseStatus: 200, error: null, responseHead: /^a+$/ })
  await eventually(() => receiver.connections() === 0)
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

t.test('headers without end are refused', async (t) => {
  const receiver = await startRawReceiver(
    t,
    answering((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      for (let n = 0; n < 2_000; n++) socket.write(`x-${n}: ${'y'.repeat(100)}\r\n`)
      socket.write('\r\n')
    }),
  )
  t.match(await send(delivery(receiver.url)), { responseStatus: null, error: 'The response headers are too large.' })
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

t.test('a reset before the answer is a failure; one within the body of a 2xx is not', async (t) => {
  const early = await startRawReceiver(
    t,
    answering((socket) => socket.resetAndDestroy()),
  )
  t.match(await send(delivery(early.url)), { responseStatus: null, error: /closed the connection before it answered/ })
  const late = await startRawReceiver(
    t,
    answering((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf', () => socket.resetAndDestroy())
    }),
  )
  t.match(await send(delivery(late.url)), { responseStatus: 200, error: null })
})

t.test('what is not HTTP is named so', async (t) => {
  const receiver = await startRawReceiver(
    t,
    answering((socket) => socket.end('220 mail.example ESMTP\r\n')),
  )
  t.match(await send(delivery(receiver.url)), { error: 'The answer is not HTTP.' })
})

t.test('a port that nothing listens on is named so', async (t) => {
  const receiver = await startReceiver(t)
  await receiver.close()
  t.match(await send(delivery(receiver.url)), { error: 'The connection was refused: nothing listens on that port.' })
})

t.test('a NUL in the body can be stored: it is replaced', async (t) => {
  const receiver = await startReceiver(t, (response) => response.writeHead(500).end('a\u0000b'))
  t.equal((await send(delivery(receiver.url))).responseHead, 'a?b')
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
