import { programSettings, secret } from '@backoffice/process'
import { type Static, Type } from '@sinclair/typebox'

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
  ...programSettings,
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
