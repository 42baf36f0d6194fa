import { servedProviders } from '@backoffice/api-docs/served'
import { apiPrefix, type Environment, providerApiPrefix } from '@backoffice/contracts'
import type { SecretBox } from '@backoffice/database/vault'
import { certificateFiles, HttpListener, patiently, trustedProxies } from '@backoffice/process'
import type { ServiceContext } from '@backoffice/service-runtime'
import type { Static, TObject } from '@sinclair/typebox'
import { buildApp } from './http/app.ts'
import { identifying, KeyDirectory, KeyUses } from './http/authenticate.ts'
import { documentRoutes } from './http/documents.ts'
import { Homologation } from './http/homologation.ts'
import { Idempotency } from './http/idempotency.ts'
import { DailyUse, heaviestStake, RateLimiter } from './http/limits.ts'
import { RefusedRequests } from './http/refused-requests.ts'
import { aroundRegistrations } from './http/registrations.ts'
import { FailedAuthentications, SecurityLog } from './http/security-log.ts'
import { operatorSurface, providerSurface, type Surface } from './http/surface.ts'
import { type KeyKind, operatorKeys, providerKeys } from './keys.ts'
import type { DefaultQuotas } from './operators/operator.ts'
import { findCredentials, openCredential } from './operators/records.ts'
import { authenticateProvider, GrantDirectory } from './providers/access.ts'
import { findKeys, openKey, type PlayQuotas } from './providers/records.ts'
import { aroundStakes } from './providers/stakes.ts'
import type { settings } from './settings.ts'

type Settings = Static<TObject<typeof settings>>

/** @param surfaces as SURFACES says them */
export const serves = (surfaces: string, name: Surface['name']): boolean => surfaces.split(',').includes(name)

/** What a brand's stakes of a day may store: as many as the settings say, were each the heaviest. */
export function playQuotas(settings: Settings): PlayQuotas {
  const { PLAY_STAKES_PER_DAY: production, SANDBOX_PLAY_STAKES_PER_DAY: sandbox } = settings
  const quotaOf = (stakes: number) => ({ bytes: stakes * heaviestStake.bytes, rows: stakes * heaviestStake.rows })
  return { production: quotaOf(production), sandbox: quotaOf(sandbox) } satisfies Record<Environment, unknown>
}

/** What both listeners use. */
export function sharedParts({ db, rpc, clock, log }: ServiceContext, settings: Settings) {
  return {
    rateLimiter: new RateLimiter(db),
    uses: new KeyUses(db, log),
    dailyUse: new DailyUse({ db, clock, log }),
    idempotency: new Idempotency({ db, rpc, leaseMs: patiently(settings.CLAIM_LEASE_MS) }),
    clock,
  }
}
type Shared = ReturnType<typeof sharedParts> & { readonly secrets: SecretBox }

/** Who guesses on one surface is refused there, and fills no lines of the other. */
const guards = ({ log }: ServiceContext, settings: Settings, keys: KeyKind) => ({
  keys,
  failures: new FailedAuthentications(settings.FAILED_AUTHENTICATIONS_PER_MINUTE),
  securityLog: new SecurityLog(log, keys),
})

function listen(
  { log }: ServiceContext,
  settings: Settings,
  where: Pick<HttpListenerOptions, 'host' | 'port' | 'app'>,
) {
  const { CONNECTIONS_MAX: connectionsMax } = settings
  return new HttpListener({ ...where, connectionsMax, certificate: certificateFiles(settings), log })
}
type HttpListenerOptions = ConstructorParameters<typeof HttpListener>[0]

const frame = ({ log, rpc }: ServiceContext, settings: Settings) => ({
  log,
  rpc,
  tls: certificateFiles(settings) !== undefined,
  isTrusted: trustedProxies(settings.TRUSTED_PROXIES),
})

/** The public API of operators, with its documents. */
export function operatorListener(
  context: ServiceContext,
  settings: Settings,
  { secrets, quotas, ...shared }: Shared & { readonly quotas: DefaultQuotas },
) {
  const { db, clock, log } = context
  const baseUrl = () => settings.PUBLIC_BASE_URL ?? `${listener.origin}${apiPrefix}`
  const homologation = new Homologation({ db, clock, log })
  const refused = new RefusedRequests({ db, clock, log })
  const directory = new KeyDirectory({
    find: (keys) => findCredentials(db.reader, keys),
    open: openCredential(secrets, quotas),
  })
  const guarding = guards(context, settings, operatorKeys)
  const authentication = { ...shared, ...guarding, directory, baseUrl }
  const app = buildApp({
    ...frame(context, settings),
    ...shared,
    surface: operatorSurface,
    documents: documentRoutes(baseUrl),
    unread: (...bytes) => refused.unread(...bytes),
    observers: [refused, homologation],
    identify: identifying(authentication),
    securityLog: guarding.securityLog,
    around: aroundRegistrations(context.rpc, shared.dailyUse),
  })
  const listener = listen(context, settings, { app, host: settings.HOST, port: settings.PORT })
  return { ...guarding, surface: operatorSurface.name, listener, baseUrl, observers: [homologation, refused] }
}

/** What providers of games call, with its documents. */
export function providerListener(context: ServiceContext, settings: Settings, { secrets, ...shared }: Shared) {
  const { db, timers } = context
  const refused = new RefusedRequests(context, providerSurface.name)
  const baseUrl = () => settings.PROVIDER_BASE_URL ?? `${listener.origin}${providerApiPrefix}`
  const guarding = guards(context, settings, providerKeys)
  const authentication = {
    ...shared,
    ...guarding,
    directory: new KeyDirectory({ find: (keys) => findKeys(db.reader, keys), open: openKey(secrets) }),
    brands: new GrantDirectory(db.reader),
    quotas: playQuotas(settings),
    // The page that compares signatures is the operators'.
    baseUrl: () => undefined,
  }
  const on = (port: number, TRUSTED_PROXIES: string) => {
    const app = buildApp({
      ...frame(context, { ...settings, TRUSTED_PROXIES }),
      ...shared,
      surface: providerSurface,
      documents: documentRoutes(baseUrl, servedProviders),
      unread: (...bytes) => refused.unread(...bytes),
      observers: [refused],
      identify: (request, operation) => authenticateProvider(request, operation, authentication),
      securityLog: guarding.securityLog,
      around: aroundStakes(timers),
    })
    return listen(context, settings, { app, host: settings.PROVIDER_HOST, port })
  }
  const listener = on(settings.PROVIDER_PORT, settings.TRUSTED_PROXIES)
  const { PROVIDER_DIRECT_PORT: port } = settings
  const direct = port === undefined ? undefined : on(port, '')
  return { ...guarding, surface: providerSurface.name, listener, direct, observers: [refused] }
}
