import { apiPrefix, idempotencyMemoryHours } from '@backoffice/contracts'
import { secretBoxFrom } from '@backoffice/database/vault'
import {
  ConfigurationError,
  certificateFiles,
  dayMs,
  HttpListener,
  patiently,
  trustedProxies,
} from '@backoffice/process'
import { defineService, sql } from '@backoffice/service-runtime'
import { teamDesk } from '@backoffice/team-access'
import { sealedClaims } from './claims/records.ts'
import { buildApp } from './http/app.ts'
import { CredentialDirectory, CredentialUses } from './http/authenticate.ts'
import { Homologation, keepingProofs } from './http/homologation.ts'
import { Idempotency } from './http/idempotency.ts'
import { DailyUse, heaviestRequest, RateLimiter } from './http/limits.ts'
import { RefusedRequests } from './http/refused-requests.ts'
import { FailedAuthentications, SecurityLog } from './http/security-log.ts'
import { limitedAddresses, unusedCredentials, usedQuotas } from './measurements.ts'
import { handlers } from './operations.ts'
import { mebibyte } from './operators/operator.ts'
import { settings } from './settings.ts'
import { migrations } from './storage/migrations/index.ts'

/** The public HTTP API, and the team's operations on operators. */
export const gateway = defineService({
  name: 'gateway',
  settings,
  assertSettings(settings) {
    certificateFiles(settings)
    secretBoxFrom(settings)
    trustedProxies(settings.TRUSTED_PROXIES)
    assertRepliesOutliveClaims(settings)
  },
  entities: async () => (await import('./operators/entities.ts')).entities,
  plugins: [teamDesk({ sealedTables: [sealedClaims] })],
  migrations,
  retentions: [
    { table: 'claim', column: 'expires_at', keepMs: 0, only: sql`status is not null` },
    // Without a reply it is kept longer, because the next use of its key must first resolve an unknown outcome.
    { table: 'claim', column: 'expires_at', keepMs: dayMs, setting: 'UNRESOLVED_CLAIMS_KEEP_HOURS' },
    { table: 'used_signature', column: 'expires_at', keepMs: 0 },
    { table: 'refused_request', column: 'at', keepMs: 7 * dayMs },
    // No session lives longer than a day. Who is locked is locked for ever.
    { table: 'ended_session', column: 'ended_before', keepMs: 2 * dayMs },
  ],
  readyWithoutBackends: true,

  compose({ db, rpc, clock, log }, settings) {
    const secrets = secretBoxFrom(settings)
    const certificate = certificateFiles(settings)
    const failures = new FailedAuthentications(settings.FAILED_AUTHENTICATIONS_PER_MINUTE)
    const securityLog = new SecurityLog(log)
    const listening = () => `${listener.origin}${apiPrefix}`
    const baseUrl = () => settings.PUBLIC_BASE_URL ?? listening()
    const uses = new CredentialUses(db, log)
    const { SANDBOX_STORED_MIB_PER_DAY: mebibytes, SANDBOX_STORED_ROWS_PER_DAY: rows } = settings
    const quotas = { sandbox: { bytes: mebibytes * mebibyte, rows }, request: heaviestRequest }
    const dailyUse = new DailyUse({ db, clock, log })
    const homologation = new Homologation({ db, clock, log })
    const refused = new RefusedRequests({ db, clock, log })
    const app = buildApp({
      log,
      rpc,
      tls: certificate !== undefined,
      isTrusted: trustedProxies(settings.TRUSTED_PROXIES),
      baseUrl,
      unread: (...bytes) => refused.unread(...bytes),
      observers: [refused, homologation],
      authentication: {
        clock,
        baseUrl,
        directory: new CredentialDirectory(db.reader, { secrets, quotas }),
        rateLimiter: new RateLimiter(db),
        failures,
        securityLog,
        uses,
      },
      dailyUse,
      idempotency: new Idempotency({ db, rpc, leaseMs: patiently(settings.CLAIM_LEASE_MS) }),
    })
    const { HOST: host, PORT: port, CONNECTIONS_MAX: connectionsMax } = settings
    const listener = new HttpListener({ app, host, port, connectionsMax, certificate, log })
    return {
      operations: handlers(secrets, { development: settings.DEVELOPMENT, quotas, baseUrl }),
      // What the listener's last requests store and prove, and what was refused of them, is written, too.
      background: [
        securityLog,
        uses,
        listener,
        ...[dailyUse, homologation, refused].map((writing) => ({
          start: () => writing.start(),
          stop: () => listener.stop().then(() => writing.stop()),
        })),
        keepingProofs({ db, rpc, log }),
      ],
      measurements: [limitedAddresses(failures), unusedCredentials({ db, clock }), usedQuotas(db.reader, quotas)],
      addresses: () => ({ baseUrl: listening() }),
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
