import { createHash } from 'node:crypto'
import type { AddressInfo, Socket } from 'node:net'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AddressRanges, addressOfHop, callerAddress, holderOf, writtenRange } from './addresses.ts'
import { type CertificateFiles, keepCertificateFresh, useCertificate } from './certificate.ts'
import { ConfigurationError } from './config.ts'
import { patiently } from './limits.ts'
import type { Logger } from './log.ts'
import { meter } from './telemetry/metrics.ts'
import type { Loop } from './time.ts'

/** How often Node looks for requests that take too long. With its default of 30 s they would last up to 30 s longer. */
const lateRequestsEveryMs = 1_000
const minuteMs = 60_000
/** What a client may still send, and how long it may take, once it has its last reply. */
const closingBytesMax = 16 * 1024 * 1024
const closingMsMax = 5_000
/** Whoever has more addresses than this is not stopped by a bound per address. */
const addressesMax = 10_000
const refusalsLoggedEveryMs = 60_000

export const proxySettings = {
  /** Addresses or CIDR ranges, separated by commas, whose X-Forwarded-For is believed. None by default. */
  TRUSTED_PROXIES: Type.String({ default: '' }),
}

/** Whether the peer of a connection, or a hop before it, is a proxy of ours. */
export type IsTrusted = (address: string) => boolean

/**
 * Reads TRUSTED_PROXIES: addresses and CIDR ranges, separated by commas.
 * @throws {ConfigurationError} naming the entry that is neither, or that programs read in different ways
 */
export function trustedProxies(text: string): IsTrusted {
  const entries = text.split(',').flatMap((part) => part.trim() || [])
  for (const entry of entries)
    if (writtenRange(entry) === null)
      throw new ConfigurationError(`TRUSTED_PROXIES: not an address or CIDR range: ${entry}`)
  const ranges = new AddressRanges(entries)
  // The library alone would take a hop of octal numbers for another address.
  return (hop) => {
    const address = addressOfHop(hop)
    return address !== null && ranges.has(address)
  }
}

interface Frame {
  readonly tls?: boolean
  readonly bodyBytesMax: number
  /** How long a client may take to send its whole request. */
  readonly requestTimeoutMs: number
  /** How long it may take to send its headers; as long as for the whole request when left out. */
  readonly headersTimeoutMs?: number
  readonly headersBytesMax?: number
  readonly requireHostHeader?: boolean
}

/** Options of Fastify for any server of ours: what a client may send and in what time, and how the server closes. */
export function httpFrame({
  tls = false,
  bodyBytesMax,
  requestTimeoutMs,
  headersTimeoutMs = requestTimeoutMs,
  headersBytesMax,
  requireHostHeader = true,
}: Frame) {
  const options = {
    headersTimeout: patiently(headersTimeoutMs),
    // Fastify sets it when the server is made, and Node compares the two before that.
    requestTimeout: patiently(requestTimeoutMs),
    connectionsCheckingInterval: lateRequestsEveryMs,
    requireHostHeader,
    ...(headersBytesMax === undefined ? {} : { maxHeaderSize: headersBytesMax }),
  }
  return {
    logger: false as const,
    bodyLimit: bodyBytesMax,
    requestTimeout: patiently(requestTimeoutMs),
    ...(tls ? { https: options } : { http: options }),
    forceCloseConnections: 'idle' as const,
    return503OnClosing: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  }
}

/** No route has a schema of Fastify's. Without this it loads ajv all the same, which takes 3 MiB. */
function noSchemas(): never {
  throw new Error('a route has no schema')
}

const noHeaders = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false }

/**
 * Options of `@fastify/rate-limit`: what an address (IPv6: a /64) sends beyond its requests a minute is refused with 429
 * and Retry-After, before anything is read. The app's error handler says so in its own words.
 */
export const requestLimit = (requestsPerMinute: number) => ({
  max: requestsPerMinute,
  timeWindow: minuteMs,
  cache: addressesMax,
  keyGenerator: (request: FastifyRequest): string => holderOf(callerAddress(request)),
  addHeaders: { ...noHeaders, 'retry-after': true },
  addHeadersOnExceeding: noHeaders,
  errorResponseBuilder: () => Object.assign(new Error('limited'), { statusCode: 429 }),
})

const refusedConnections = meter.createCounter('backoffice.connections.refused', {
  description: 'Connections that were closed at once, because too many were open',
})

interface ListenerOptions {
  readonly app: FastifyInstance
  readonly host: string
  readonly port: number
  /** More connections are closed at once, so that those that do nothing cannot use up the memory. */
  readonly connectionsMax: number
  /** With it the listener speaks TLS. */
  readonly certificate?: CertificateFiles | undefined
  readonly log: Logger
}

/**
 * Ends what we send, and reads on until the client ends too (RFC 9112, 9.6). To close while bytes of the client are on
 * their way would reset the connection, and the reply before could be lost with it.
 */
function closeInStages(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), patiently(closingMsMax))
  let bytes = 0
  // What still comes is no request.
  socket
    .removeAllListeners('data')
    .on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > closingBytesMax) socket.destroy()
    })
    .once('end', () => socket.destroySoon())
    .once('close', () => clearTimeout(timer))
  socket.destroySoon = () => {
    if (socket.writableFinished) socket.destroy()
    else socket.once('finish', () => socket.destroy())
  }
  if (socket.writable) socket.end()
  if (socket.readableEnded) socket.destroySoon()
}

/** Listens for an app. `stop` finishes the requests under way. */
export class HttpListener {
  readonly #options: ListenerOptions
  readonly #certificateLoop: Loop | undefined
  /** One that speaks TLS is two: the bytes that come, and what they say. */
  readonly #connections = new Set<Socket>()
  #leaving = false
  #refusalLoggedAt = Number.NEGATIVE_INFINITY

  constructor(options: ListenerOptions) {
    const { app, certificate, connectionsMax, log } = options
    this.#options = options
    app.server.maxConnections = connectionsMax
    app.server.on('drop', () => this.#logRefusal())
    // Node would wait for a connection that was opened ahead and has brought nothing, as for a busy one.
    let ends = false
    const endUnused = (socket: Socket) => ends && socket.bytesRead === 0 && socket.destroy()
    app.server.on(certificate === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      socket.destroySoon = () => closeInStages(socket)
    })
    for (const event of ['connection', 'secureConnection'])
      app.server.on(event, (socket: Socket) => {
        this.#connections.add(socket)
        socket.once('close', () => this.#connections.delete(socket))
        endUnused(socket)
      })
    app.addHook('preClose', (done) => {
      ends = true
      for (const socket of this.#connections) endUnused(socket)
      done()
    })
    this.#certificateLoop = certificate && keepCertificateFresh(app.server, certificate, { log })
    // A connection that is kept alive could still bring requests while the listener closes.
    app.addHook('onSend', (_request, reply, _payload, done) => {
      if (this.#leaving) reply.header('Connection', 'close')
      done()
    })
  }

  /** @throws while it does not listen */
  get port(): number {
    const address = this.#options.app.server.address() as AddressInfo | null
    if (address === null) throw new Error('the listener does not listen')
    return address.port
  }

  /** Where it listens, without a path. */
  get origin(): string {
    const { host, certificate } = this.#options
    const scheme = certificate === undefined ? 'http' : 'https'
    return `${scheme}://${host === '0.0.0.0' ? '127.0.0.1' : host}:${this.port}`
  }

  async start(): Promise<void> {
    const { app, host, port, certificate, log } = this.#options
    if (certificate !== undefined) await useCertificate(app.server, certificate)
    await app.listen({ host, port })
    this.#certificateLoop?.start()
    log.info({ origin: this.origin }, 'listening for HTTP requests')
  }

  /** Once in a while: a flood of connections must not become a flood of lines. */
  #logRefusal(): void {
    refusedConnections.add(1)
    const now = performance.now()
    if (now - this.#refusalLoggedAt < refusalsLoggedEveryMs) return
    this.#refusalLoggedAt = now
    const { connectionsMax, log } = this.#options
    log.warn({ connectionsMax }, 'a connection was refused, because too many are open')
  }

  leave(): void {
    this.#leaving = true
  }

  async stop(): Promise<void> {
    await Promise.all([this.#certificateLoop?.stop(), this.#options.app.close()])
  }
}

/** In the order in which we prefer them, where a client likes several equally. Each works outside the main thread. */
const compressions = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const
type Encoding = keyof typeof compressions | 'identity'
const encodings: readonly Encoding[] = ['br', 'gzip', 'identity']

/** Below this, compression saves no packet. */
const compressedBytesMin = 1_024

interface Answer {
  readonly encoding: Encoding
  readonly etag: string
  readonly body: Buffer
}

/** A public file as it is sent: compressed once for each encoding that somebody asked for. */
export class ServedFile {
  readonly contentType: string
  readonly #body: Buffer
  readonly #digest: string
  readonly #answers = new Map<Encoding, Promise<Answer>>()

  constructor({ contentType, body }: { readonly contentType: string; readonly body: Uint8Array }) {
    this.contentType = contentType
    this.#body = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    this.#digest = createHash('sha256').update(body).digest('base64url')
  }

  /** In the encoding that the client likes best, of those that we have. */
  async send(request: FastifyRequest, reply: FastifyReply, cacheControl: string): Promise<FastifyReply> {
    const { encoding, etag, body } = await this.#answer(request.headers['accept-encoding'])
    reply.headers({ ETag: etag, 'Cache-Control': cacheControl, Vary: 'Accept-Encoding' })
    if (isNamed(etag, request.headers['if-none-match'])) return reply.code(304).send()
    if (encoding !== 'identity') reply.header('Content-Encoding', encoding)
    return reply.header('Content-Type', this.contentType).send(body)
  }

  #answer(acceptEncoding = ''): Promise<Answer> {
    const accepted = (negotiate(acceptEncoding, [...encodings]) ?? 'identity') as Encoding
    const encoding = this.#body.length < compressedBytesMin ? 'identity' : accepted
    const answer = this.#answers.get(encoding) ?? this.#made(encoding)
    this.#answers.set(encoding, answer)
    return answer
  }

  /** Other bytes have another tag, so that no cache takes one encoding for another. */
  async #made(encoding: Encoding): Promise<Answer> {
    if (encoding === 'identity') return { encoding, etag: `"${this.#digest}"`, body: this.#body }
    return { encoding, etag: `"${this.#digest}-${encoding}"`, body: await compressions[encoding](this.#body) }
  }
}

/** A proxy may have made the tag a weak one. For a GET that is the same. */
const isNamed = (etag: string, ifNoneMatch = '') =>
  ifNoneMatch.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
