import type { AddressInfo } from 'node:net'
import { apiPrefix } from '@backoffice/contracts'
import { type Background, type SecretBox, type ServiceContext, sqlOf } from '@backoffice/service-runtime'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { GatewayConfig } from '../config.ts'
import { AddressRanges } from './addresses.ts'
import { certificateFiles, keepCertificateFresh, readCertificate } from './certificate.ts'
import { CredentialDirectory } from './credential-directory.ts'
import { registerDocuments } from './documents.ts'
import { Idempotency } from './idempotency.ts'
import { RateLimiter } from './rate-limiter.ts'
import { registerOperations } from './routes.ts'
import { createServer, refuseOtherMethods } from './server.ts'
import { measureRequests } from './telemetry.ts'

export interface HttpListener extends Background {
  /** Where it listens, with the /api/v1 prefix. */
  readonly baseUrl: string
}

/** Starts the public HTTP server. Stopping it finishes the requests under way. */
export async function listen(config: GatewayConfig, shared: ServiceContext, secrets: SecretBox): Promise<HttpListener> {
  const { rpc, clock, log } = shared
  const connection = () => sqlOf(shared.orm.em.fork())
  const certificate = certificateFiles(config)
  const app = createServer(log, certificate === undefined ? undefined : await readCertificate(certificate))
  measureRequests(app)
  let leaving = false
  // A connection that is kept open would still bring requests when the listener closes.
  app.addHook('onSend', async (_request, reply) => {
    if (leaving) reply.header('Connection', 'close')
  })
  const routes: { method: string; url: string }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) routes.push({ method: name, url })
  })
  registerOperations(app, {
    rpc,
    log,
    idempotency: new Idempotency({ connection, rpc, leaseMs: config.CLAIM_LEASE_MS }),
    authentication: {
      clock,
      directory: new CredentialDirectory({ connection, secrets }),
      rateLimiter: new RateLimiter(connection),
      failures: new RateLimiterMemory({ points: config.FAILED_AUTHENTICATIONS_PER_MINUTE, duration: 60 }),
      trustedProxies: new AddressRanges(
        config.TRUSTED_PROXIES.split(',')
          .map((entry) => entry.trim())
          .filter((entry) => entry !== ''),
      ),
    },
  })
  let baseUrl = ''
  registerDocuments(app, () => config.PUBLIC_BASE_URL ?? baseUrl)
  refuseOtherMethods(app, [...routes])
  await app.listen({ host: config.HOST, port: config.PORT })
  const { port } = app.server.address() as AddressInfo
  const stopReading = certificate === undefined ? () => {} : keepCertificateFresh(app.server, certificate, { log })
  baseUrl = `${certificate === undefined ? 'http' : 'https'}://${config.HOST === '0.0.0.0' ? '127.0.0.1' : config.HOST}:${port}${apiPrefix}`
  log.info({ baseUrl }, 'listening')
  return {
    baseUrl,
    leave() {
      leaving = true
    },
    async stop() {
      stopReading()
      await app.close()
    },
  }
}
