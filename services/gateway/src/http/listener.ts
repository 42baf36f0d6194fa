import type { AddressInfo } from 'node:net'
import { apiPrefix } from '@backoffice/contracts'
import {
  type CertificateFiles,
  keepCertificateFresh,
  type Logger,
  type Loop,
  meter,
  useCertificate,
} from '@backoffice/process'
import type { Background } from '@backoffice/service-runtime'
import type { FastifyInstance } from 'fastify'

const refusalsLoggedEveryMs = 60_000
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
  readonly certificate: CertificateFiles | undefined
  readonly log: Logger
}

/** Listens for the app. `stop` finishes the requests under way. */
export class HttpListener implements Background {
  readonly #options: ListenerOptions
  readonly #certificateLoop: Loop | undefined
  #leaving = false
  #refusalLoggedAt = Number.NEGATIVE_INFINITY

  constructor(options: ListenerOptions) {
    const { app, certificate, connectionsMax, log } = options
    this.#options = options
    app.server.maxConnections = connectionsMax
    app.server.on('drop', () => this.#logRefusal())
    this.#certificateLoop = certificate && keepCertificateFresh(app.server, certificate, { log })
    // A connection that is kept alive could still bring requests while the listener closes.
    app.addHook('onSend', (_request, reply, _payload, done) => {
      if (this.#leaving) reply.header('Connection', 'close')
      done()
    })
  }

  /**
   * Where it listens, with the /api/v1 prefix.
   * @throws while it does not listen
   */
  get baseUrl(): string {
    const { app, host, certificate } = this.#options
    const address = app.server.address() as AddressInfo | null
    if (address === null) throw new Error('the listener does not listen')
    const scheme = certificate === undefined ? 'http' : 'https'
    return `${scheme}://${host === '0.0.0.0' ? '127.0.0.1' : host}:${address.port}${apiPrefix}`
  }

  async start(): Promise<void> {
    const { app, host, port, certificate, log } = this.#options
    if (certificate !== undefined) await useCertificate(app.server, certificate)
    await app.listen({ host, port })
    this.#certificateLoop?.start()
    log.info({ baseUrl: this.baseUrl }, 'listening')
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
