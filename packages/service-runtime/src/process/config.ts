import { readFileSync } from 'node:fs'
import { identitySettings } from '@backoffice/team-identity/settings'
import { type Static, type StringOptions, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

interface SecretOptions extends StringOptions {
  /** Of a URL: the setting with its password, which then is not in the URL. */
  readonly password?: string
}

/** A setting that is a secret. It may be in a file instead, which the variable `<NAME>_FILE` names. */
export const secret = (options: SecretOptions = {}) => Type.String({ minLength: 1, ...options, secret: true })

/**
 * The settings of every service, by the names of their environment variables. A service adds its own in
 * `defineService`.
 */
export const serviceConfig = Type.Object({
  DATABASE_URL: secret({ description: "postgres:// URL with the service's own role", password: 'DATABASE_PASSWORD' }),
  DATABASE_PASSWORD: Type.Optional(secret()),
  /** PEM of the authority behind PostgreSQL's certificate; when set, the connection is TLS and the certificate is verified. */
  DATABASE_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
  DATABASE_POOL_MAX: Type.Integer({ minimum: 1, maximum: 200, default: 10 }),
  /** How long the migrator may take, once PostgreSQL answers: a process does not start on an older schema than its own. */
  SCHEMA_WAIT_MS: Type.Integer({ minimum: 0, default: 300_000 }),
  NATS_URL: Type.String({ minLength: 1 }),
  NATS_USER: Type.Optional(Type.String({ minLength: 1 })),
  NATS_PASSWORD: Type.Optional(secret()),
  /** PEM files; set all that the server asks for. */
  NATS_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
  NATS_CERT_FILE: Type.Optional(Type.String({ minLength: 1 })),
  NATS_KEY_FILE: Type.Optional(Type.String({ minLength: 1 })),
  /** How many copies of the stream EVENTS there must be at least. The migration Job makes so many. */
  EVENTS_REPLICAS: Type.Integer({ minimum: 1, maximum: 5, default: 1 }),
  /**
   * How long stored replies of operations are kept. Two days and an hour at least, here and below: an Idempotency-Key lives
   * a day, and its outcome may be looked up for another.
   */
  REPLIES_KEEP_HOURS: Type.Integer({ minimum: 49, maximum: 8_760, default: 72 }),
  /** How long events are kept after they were published, to fill a stream that was lost. */
  EVENTS_KEEP_HOURS: Type.Integer({ minimum: 49, maximum: 8_760, default: 72 }),
  /** How long the events that were handled are remembered: longer than the stream and EVENTS_KEEP_HOURS together. */
  INBOX_KEEP_DAYS: Type.Integer({ minimum: 17, maximum: 730, default: 18 }),
  SET_ASIDE_KEEP_DAYS: Type.Integer({ minimum: 1, maximum: 365, default: 30 }),
  /** How long the replies, events and deliveries of the sandbox are kept, if that is shorter than what is said for all. */
  SANDBOX_KEEP_HOURS: Type.Integer({ minimum: 49, maximum: 8_760, default: 49 }),
  /**
   * How long a process goes on taking work after it was told to stop. /readyz fails meanwhile, so that load balancers
   * notice.
   */
  DRAIN_DELAY_MS: Type.Integer({ minimum: 0, maximum: 60_000, default: 0 }),
  HEALTH_HOST: Type.String({ minLength: 1, default: '0.0.0.0' }),
  /** 0 takes any free port. */
  HEALTH_PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 0 }),
  ...identitySettings,
  LOG_LEVEL: Type.String({ pattern: '^(fatal|error|warn|info|debug|trace|silent)$', default: 'info' }),
  /** Relaxes what production must not: plain http to loopback, built-in keys. Set by `npm start` and tests only. */
  DEVELOPMENT: Type.Boolean({ default: false }),
})
export type ServiceConfig = Static<typeof serviceConfig>

/** What a program needs that only speaks to NATS. */
export const natsConfig = Type.Pick(serviceConfig, [
  'NATS_URL',
  'NATS_USER',
  'NATS_PASSWORD',
  'NATS_CA_FILE',
  'NATS_CERT_FILE',
  'NATS_KEY_FILE',
])

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

type Environment = Readonly<Record<string, string | undefined>>
type Given = { readonly text: string | undefined } | { readonly fault: string }

/**
 * Reads the configuration from the environment, and secrets also from files. An empty variable counts as absent.
 * @throws {ConfigurationError} naming every variable and file that is missing or wrong, never what is in it
 */
export function loadConfig<T extends TObject>(schema: T, environment: Environment): Static<T> {
  const raw: Record<string, unknown> = {}
  const faults = new Map<string, string>()
  for (const [name, property] of Object.entries(schema.properties)) {
    const given = property.secret === true ? secretFrom(environment, name) : { text: environment[name] }
    if ('fault' in given) faults.set(name, given.fault)
    else if (given.text !== undefined && given.text !== '') raw[name] = fromText(property, given.text)
  }
  const config = Value.Default(schema, raw) as Record<string, unknown>
  for (const { path, message } of Value.Errors(schema, config)) {
    const name = path.slice(1)
    if (!faults.has(name)) faults.set(name, name in raw ? lowerFirst(message) : 'is required')
  }
  for (const [name, property] of Object.entries(schema.properties)) {
    const [url, password] = [config[name], config[property.password]]
    if (faults.has(name) || url === undefined || password === undefined) continue
    const given = urlWithPassword(String(url), { password: String(password), from: property.password })
    if ('fault' in given) faults.set(name, given.fault)
    else config[name] = given.text
  }
  if (faults.size > 0) {
    const lines = [...faults].map(([name, fault]) => `${name}: ${fault}`)
    throw new ConfigurationError(`the configuration is not valid:\n  ${lines.join('\n  ')}`)
  }
  return config as Static<T>
}

/** In its own variable, or in the file that a second one names. */
function secretFrom(environment: Environment, name: string): Given {
  const fileVariable = `${name}_FILE`
  const [text, file] = [environment[name] || undefined, environment[fileVariable] || undefined]
  if (file === undefined) return { text }
  if (text !== undefined) return { fault: `${name} and ${fileVariable} are both set` }
  try {
    // What writes such a file by hand, an editor or `echo`, ends it with a line feed that is no part of the secret.
    const content = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    return content === '' ? { fault: `${fileVariable} names ${file}, which is empty` } : { text: content }
  } catch (error) {
    return { fault: `${fileVariable} names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
}

function urlWithPassword(text: string, { password, from }: { password: string; from: string }): Given {
  const url = URL.parse(text)
  if (url === null) return { fault: 'is no URL' }
  if (url.password !== '') return { fault: `has a password, and so has ${from}` }
  url.password = encodeURIComponent(password)
  return { text: url.href }
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

/** Numbers and booleans are written as text in an environment; what is not one is left for the schema to refuse. */
function fromText(schema: TSchema, value: string): unknown {
  if ((schema.type === 'integer' || schema.type === 'number') && /^-?\d+(\.\d+)?$/.test(value)) return Number(value)
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}
