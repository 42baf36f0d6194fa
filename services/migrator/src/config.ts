import {
  type DatabaseRole,
  databaseRoles,
  residentServices,
  type ServiceName,
  type StreamSettings,
  serviceNames,
  streamBytesDefault,
  streamBytesMin,
} from '@backoffice/contracts'
import { developmentSetting, proxySettings, secret } from '@backoffice/process'
import { verifiedUrl } from '@backoffice/service-runtime'
import { type Static, type TOptional, Type } from '@sinclair/typebox'
import type { Home } from './link.ts'
import type { RolePasswords } from './prepare-database.ts'

type PasswordVariable = `DATABASE_PASSWORD_${Uppercase<DatabaseRole>}`
const passwordVariable = (role: DatabaseRole) => `DATABASE_PASSWORD_${role.toUpperCase()}` as PasswordVariable

const password = secret()

type UrlVariable = `ADMIN_DATABASE_URL_${Uppercase<(typeof residentServices)[number]>}`
const urlVariable = (service: ServiceName) => `ADMIN_DATABASE_URL_${service.toUpperCase()}` as UrlVariable

const administratorUrl = secret({ pattern: '^postgres(ql)?://.+/.+', password: 'DATABASE_PASSWORD_ADMIN' })

/** Where the stream is made, and how large: what the migration Job and the keeper of the stream both read. */
export const streamConfig = Type.Object({
  NATS_URL: Type.String({ minLength: 1 }),
  /** Of the user `streams`. */
  NATS_PASSWORD: password,
  /** PEM; with it the connection is TLS, and the server's certificate is verified. */
  NATS_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
  /** PEM; what it shows to a server that demands a certificate. */
  NATS_CERT_FILE: Type.Optional(Type.String({ minLength: 1 })),
  NATS_KEY_FILE: Type.Optional(Type.String({ minLength: 1 })),
  /** Copies of the stream EVENTS, each on another server. */
  EVENTS_REPLICAS: Type.Integer({ minimum: 1, maximum: 5, default: 1 }),
  /** Size of the stream. When it is full, the oldest events go; the services still have those of the last days. */
  EVENTS_MAX_BYTES: Type.Integer({ minimum: streamBytesMin, default: streamBytesDefault }),
  LOG_LEVEL: Type.String({ pattern: '^(fatal|error|warn|info|debug|trace|silent)$', default: 'info' }),
})
export type StreamConfig = Static<typeof streamConfig>

export const streamSettingsFrom = (config: StreamConfig): StreamSettings => ({
  replicas: config.EVENTS_REPLICAS,
  bytesMax: config.EVENTS_MAX_BYTES,
})

/** The migrator's environment variables. */
export const migratorConfig = Type.Composite([
  Type.Object({
    /** postgres:// URL of the services' database, as a role that may create roles and owns the database. */
    ADMIN_DATABASE_URL: administratorUrl,
    DATABASE_PASSWORD_ADMIN: Type.Optional(password),
    /** PEM; with it the connection is TLS, and the server's certificate is verified. */
    DATABASE_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
    /** PEM on the machines of PostgreSQL, with which one of several verifies another. Without it: what PostgreSQL's system trusts. */
    DATABASE_LINK_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
    /** How long PostgreSQL may take to answer at all. */
    DATABASE_WAIT_MS: Type.Integer({ minimum: 0, default: 60_000 }),
    /** How long NATS may take to answer at all, and its servers to agree on a leader. */
    NATS_WAIT_MS: Type.Integer({ minimum: 0, default: 60_000 }),
    /** Where NATS servers say how they are set, over http: URLs or host:port, separated by commas. All addresses of a name are asked. */
    NATS_MONITORING_URL: Type.Optional(Type.String({ minLength: 1 })),
    DEVELOPMENT: developmentSetting,
  }),
  streamConfig,
  // Of services with a database of their own, such as ADMIN_DATABASE_URL_WALLET.
  Type.Object(
    Object.fromEntries(
      residentServices.map((service) => [urlVariable(service), Type.Optional(administratorUrl)]),
    ) as Record<UrlVariable, TOptional<typeof administratorUrl>>,
  ),
  // One for each role, such as DATABASE_PASSWORD_WALLET.
  Type.Object(
    Object.fromEntries(databaseRoles.map((role) => [passwordVariable(role), password])) as Record<
      PasswordVariable,
      typeof password
    >,
  ),
])
export type MigratorConfig = Static<typeof migratorConfig>

export function passwordsFrom(config: MigratorConfig): RolePasswords {
  return Object.fromEntries(databaseRoles.map((role) => [role, config[passwordVariable(role)]])) as RolePasswords
}

/**
 * Which services live in which database. The reconciler lives with the ledger; elsewhere its schema has the moments of that
 * database.
 */
export function homesFrom(config: MigratorConfig): readonly Home[] {
  const urlOf = (service: ServiceName) =>
    verifiedUrl(config[urlVariable(service)] ?? config.ADMIN_DATABASE_URL, config.DATABASE_CA_FILE)
  return [...new Set(residentServices.map(urlOf))].map((url) => ({
    url,
    services: serviceNames.filter((service) => service === 'reconciler' || urlOf(service) === url),
  }))
}

const place = Type.Optional(Type.String())

/** What the workloads call the places that they reach: URLs or host:port, separated by commas. */
export const preflightConfig = Type.Object({
  DATABASE_URL: place,
  NATS_URL: place,
  OTEL_EXPORTER_OTLP_ENDPOINT: place,
  GAME_PROVIDER_URL: place,
  HEADS_BUCKET: place,
  HEADS_BUCKET_REGION: Type.String({ minLength: 1, default: 'us-east-1' }),
  HEADS_BUCKET_ENDPOINT: place,
  TEAM_ISSUER: place,
  /** With it only who logs people in asks the issuer. */
  TEAM_KEYS_FILE: place,
  CONSOLE_CLIENT_ID: place,
  TEAM_STRONG_ACR: Type.Optional(Type.String()),
  TEAM_STRONG_AMR: Type.Optional(Type.String()),
  ...proxySettings,
  /** What no workload of ours reads. */
  PREFLIGHT_TARGETS: place,
  /** How long what cannot be reached is tried again: a new database cluster takes minutes to come up. */
  PREFLIGHT_WAIT_MS: Type.Integer({ minimum: 0, default: 600_000 }),
  LOG_LEVEL: Type.String({ pattern: '^(fatal|error|warn|info|debug|trace|silent)$', default: 'info' }),
})
export type PreflightConfig = Static<typeof preflightConfig>
