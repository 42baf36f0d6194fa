import { apiPrefix, idempotencyMemoryHours, providerApiPrefix } from '@backoffice/contracts'
import { secretBoxFrom } from '@backoffice/database/vault'
import { ConfigurationError, certificateFiles, dayMs, trustedProxies } from '@backoffice/process'
import { defineService, sql } from '@backoffice/service-runtime'
import { teamPlugin } from '@backoffice/team-access'
import { sealedClaims } from './claims/records.ts'
import { keepingProofs } from './http/homologation.ts'
import { heaviestRequest } from './http/limits.ts'
import { operatorListener, playQuotas, providerListener, serves, sharedParts } from './listeners.ts'
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
  plugins: [teamPlugin({ sealedTables: [sealedClaims] })],
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

  servesCalls: ({ SURFACES }) => serves(SURFACES, 'operators'),

  compose(context, settings) {
    const { db, clock } = context
    const secrets = secretBoxFrom(settings)
    const { SANDBOX_STORED_MIB_PER_DAY: mebibytes, SANDBOX_STORED_ROWS_PER_DAY: rows } = settings
    const quotas = { sandbox: { bytes: mebibytes * mebibyte, rows }, request: heaviestRequest }
    const shared = sharedParts(context, settings)
    const operators = serves(settings.SURFACES, 'operators')
      ? operatorListener(context, settings, { ...shared, secrets, quotas })
      : undefined
    const providers = serves(settings.SURFACES, 'providers')
      ? providerListener(context, settings, { ...shared, secrets })
      : undefined
    const { dailyUse, uses } = shared
    const baseUrl = operators?.baseUrl ?? (() => settings.PUBLIC_BASE_URL ?? '')
    const surfaces = [operators, providers].filter((surface) => surface !== undefined)
    const listeners = [...surfaces.map(({ listener }) => listener), ...(providers?.direct ? [providers.direct] : [])]
    return {
      operations: handlers(secrets, { development: settings.DEVELOPMENT, quotas, baseUrl }),
      background: [
        ...surfaces.map(({ securityLog }) => securityLog),
        uses,
        ...listeners,
        // What the listeners' last requests store and prove, and what was refused of them, is written, too.
        ...[dailyUse, ...surfaces.flatMap(({ observers }) => observers)].map((writing) => ({
          start: () => writing.start(),
          stop: () => Promise.all(listeners.map((listener) => listener.stop())).then(() => writing.stop()),
        })),
        ...(operators === undefined ? [] : [keepingProofs(context)]),
      ],
      measurements: [
        limitedAddresses(surfaces),
        unusedCredentials({ db, clock }),
        usedQuotas(db.reader, { defaults: quotas, play: playQuotas(settings) }),
      ],
      addresses: () => ({
        baseUrl: operators === undefined ? '' : `${operators.listener.origin}${apiPrefix}`,
        providerUrl: providers === undefined ? '' : `${providers.listener.origin}${providerApiPrefix}`,
        directUrl: providers?.direct === undefined ? '' : `${providers.direct.origin}${providerApiPrefix}`,
      }),
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
