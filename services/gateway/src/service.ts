import { dayMs, defineService, secretBoxFrom } from '@backoffice/service-runtime'
import { AddressRanges } from './domain/addresses.ts'
import { buildApp } from './http/app.ts'
import { CallerAddresses } from './http/caller-addresses.ts'
import { certificateFiles } from './http/certificate.ts'
import { CredentialDirectory } from './http/credential-directory.ts'
import { FailedAuthentications } from './http/failed-authentications.ts'
import { Idempotency } from './http/idempotency.ts'
import { HttpListener } from './http/listener.ts'
import { RateLimiter } from './http/rate-limiter.ts'
import { SecurityLog } from './http/security-log.ts'
import { limitedAddresses } from './measurements.ts'
import { handlers } from './operations/index.ts'
import { settings } from './settings.ts'
import { sealedClaims } from './storage/claims.ts'
import { migrations } from './storage/migrations/index.ts'

/** The public HTTP API, and the team's operations on operators. */
export const gateway = defineService({
  name: 'gateway',
  settings,
  assertSettings(settings) {
    certificateFiles(settings)
    secretBoxFrom(settings)
    trustedProxies(settings)
  },
  entities: async () => (await import('./storage/entities.ts')).entities,
  migrations,
  sealedTables: [sealedClaims],
  // An expired claim is kept a day longer, because the next use of its key must first resolve an unknown outcome.
  retentions: [
    { table: 'claim', column: 'expires_at', keepMs: dayMs },
    { table: 'used_signature', column: 'expires_at', keepMs: 0 },
  ],
  readyWithoutBackends: true,

  compose({ db, rpc, clock, log }, settings) {
    const secrets = secretBoxFrom(settings)
    const certificate = certificateFiles(settings)
    const failures = new FailedAuthentications(settings.FAILED_AUTHENTICATIONS_PER_MINUTE)
    const securityLog = new SecurityLog(log)
    const app = buildApp({
      log,
      rpc,
      tls: certificate !== undefined,
      baseUrl: () => settings.PUBLIC_BASE_URL ?? listener.baseUrl,
      authentication: {
        clock,
        directory: new CredentialDirectory(db.reader, secrets),
        rateLimiter: new RateLimiter(db),
        failures,
        securityLog,
        addresses: new CallerAddresses({ trustedProxies: trustedProxies(settings), log }),
      },
      idempotency: new Idempotency({ db, rpc, leaseMs: settings.CLAIM_LEASE_MS }),
    })
    const { HOST: host, PORT: port, CONNECTIONS_MAX: connectionsMax } = settings
    const listener = new HttpListener({ app, host, port, connectionsMax, certificate, log })
    return {
      operations: handlers(secrets),
      background: [securityLog, listener],
      measurements: [limitedAddresses(failures)],
      addresses: () => ({ baseUrl: listener.baseUrl }),
    }
  },
})

/** @throws {RangeError} naming the entry that is no address and no range */
function trustedProxies({ TRUSTED_PROXIES }: { readonly TRUSTED_PROXIES: string }): AddressRanges {
  const entries = TRUSTED_PROXIES.split(',').map((entry) => entry.trim())
  return AddressRanges.strict(entries.filter((entry) => entry !== ''))
}
