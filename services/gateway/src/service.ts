import { idempotencyMemoryHours } from '@backoffice/contracts'
import {
  ConfigurationError,
  certificateFiles,
  dayMs,
  defineService,
  secretBoxFrom,
  sql,
} from '@backoffice/service-runtime'
import { sealedClaims } from './claims/records.ts'
import { buildApp } from './http/app.ts'
import { CallerAddresses } from './http/caller-addresses.ts'
import { CredentialDirectory } from './http/credential-directory.ts'
import { CredentialUses } from './http/credential-uses.ts'
import { FailedAuthentications } from './http/failed-authentications.ts'
import { Idempotency } from './http/idempotency.ts'
import { HttpListener } from './http/listener.ts'
import { RateLimiter } from './http/rate-limiter.ts'
import { SecurityLog } from './http/security-log.ts'
import { limitedAddresses, unusedCredentials } from './measurements.ts'
import { handlers } from './operations.ts'
import { AddressRanges } from './operators/addresses.ts'
import { settings } from './settings.ts'
import { migrations } from './storage/migrations/index.ts'

/** The public HTTP API, and the team's operations on operators. */
export const gateway = defineService({
  name: 'gateway',
  settings,
  assertSettings(settings) {
    certificateFiles(settings)
    secretBoxFrom(settings)
    trustedProxies(settings)
    assertRepliesOutliveClaims(settings)
  },
  entities: async () => (await import('./operators/entities.ts')).entities,
  migrations,
  sealedTables: [sealedClaims],
  retentions: [
    { table: 'claim', column: 'expires_at', keepMs: 0, only: sql`status is not null` },
    // Without a reply it is kept longer, because the next use of its key must first resolve an unknown outcome.
    { table: 'claim', column: 'expires_at', keepMs: dayMs, setting: 'UNRESOLVED_CLAIMS_KEEP_HOURS' },
    { table: 'used_signature', column: 'expires_at', keepMs: 0 },
  ],
  readyWithoutBackends: true,

  compose({ db, rpc, clock, log }, settings) {
    const secrets = secretBoxFrom(settings)
    const certificate = certificateFiles(settings)
    const failures = new FailedAuthentications(settings.FAILED_AUTHENTICATIONS_PER_MINUTE)
    const securityLog = new SecurityLog(log)
    const baseUrl = () => settings.PUBLIC_BASE_URL ?? listener.baseUrl
    const uses = new CredentialUses(db, log)
    const app = buildApp({
      log,
      rpc,
      tls: certificate !== undefined,
      baseUrl,
      authentication: {
        clock,
        baseUrl,
        directory: new CredentialDirectory(db.reader, secrets),
        rateLimiter: new RateLimiter(db),
        failures,
        securityLog,
        uses,
        addresses: new CallerAddresses({ trustedProxies: trustedProxies(settings), log }),
      },
      idempotency: new Idempotency({ db, rpc, leaseMs: settings.CLAIM_LEASE_MS }),
    })
    const { HOST: host, PORT: port, CONNECTIONS_MAX: connectionsMax } = settings
    const listener = new HttpListener({ app, host, port, connectionsMax, certificate, log })
    return {
      operations: handlers(secrets, { development: settings.DEVELOPMENT }),
      background: [securityLog, uses, listener],
      measurements: [limitedAddresses(failures), unusedCredentials({ db, clock })],
      addresses: () => ({ baseUrl: listener.baseUrl }),
    }
  },
})

/** @throws {ConfigurationError} when an operation could be forgotten whose claim can still ask what became of it */
function assertRepliesOutliveClaims(settings: {
  readonly REPLIES_KEEP_HOURS: number
  readonly SANDBOX_KEEP_HOURS: number
  readonly UNRESOLVED_CLAIMS_KEEP_HOURS: number
}): void {
  const hoursMin = idempotencyMemoryHours + settings.UNRESOLVED_CLAIMS_KEEP_HOURS + 1
  if (Math.min(settings.REPLIES_KEEP_HOURS, settings.SANDBOX_KEEP_HOURS) < hoursMin)
    throw new ConfigurationError(
      `REPLIES_KEEP_HOURS and SANDBOX_KEEP_HOURS must be at least ${hoursMin} with this UNRESOLVED_CLAIMS_KEEP_HOURS`,
    )
}

/** @throws {RangeError} naming the entry that is no address and no range */
function trustedProxies({ TRUSTED_PROXIES }: { readonly TRUSTED_PROXIES: string }): AddressRanges {
  const entries = TRUSTED_PROXIES.split(',').map((entry) => entry.trim())
  return AddressRanges.strict(entries.filter((entry) => entry !== ''))
}
