import { eventsKeepHoursMin, streamMaxAgeDays } from '@backoffice/contracts'
import { databaseSettings } from '@backoffice/database'
import { ConfigurationError, developmentSetting, programSettings } from '@backoffice/process'
import { natsSettings } from '@backoffice/rpc'
import { type Static, Type } from '@sinclair/typebox'

/**
 * The settings of every service, by the names of their environment variables. A service adds its own in
 * `defineService`.
 */
export const serviceConfig = Type.Object({
  ...databaseSettings,
  /** How long the migrator may take, once PostgreSQL answers: a process does not start on an older schema than its own. */
  SCHEMA_WAIT_MS: Type.Integer({ minimum: 0, default: 300_000 }),
  ...natsSettings,
  /** How many copies of the stream EVENTS there must be at least. The migration Job makes so many. */
  EVENTS_REPLICAS: Type.Integer({ minimum: 1, maximum: 5, default: 1 }),
  /**
   * How long stored replies of operations are kept. Two days and an hour at least, here and below: an Idempotency-Key lives
   * a day, and its outcome may be looked up for another.
   */
  REPLIES_KEEP_HOURS: Type.Integer({ minimum: 49, maximum: 8_760, default: 72 }),
  /** How long events are kept after they were published, to fill a stream that was lost. */
  EVENTS_KEEP_HOURS: Type.Integer({ minimum: eventsKeepHoursMin, maximum: 8_760, default: 72 }),
  /** How long the events that were handled are remembered: longer than the stream and EVENTS_KEEP_HOURS together. */
  INBOX_KEEP_DAYS: Type.Integer({ minimum: 17, maximum: 730, default: 18 }),
  SET_ASIDE_KEEP_DAYS: Type.Integer({ minimum: 1, maximum: 365, default: 30 }),
  /** How long the replies, events and deliveries of the sandbox are kept, if that is shorter than what is said for all. */
  SANDBOX_KEEP_HOURS: Type.Integer({ minimum: 49, maximum: 8_760, default: 49 }),
  ...programSettings,
  DEVELOPMENT: developmentSetting,
})
export type ServiceConfig = Static<typeof serviceConfig>

/**
 * The inbox must remember an event for as long as it may still arrive: published again at the end of its own time, it
 * stays in the stream for the stream's time.
 * @throws {ConfigurationError} otherwise
 */
export function assertInboxOutlivesEvents({ EVENTS_KEEP_HOURS, INBOX_KEEP_DAYS }: ServiceConfig): void {
  const daysMin = streamMaxAgeDays + EVENTS_KEEP_HOURS / 24
  if (INBOX_KEEP_DAYS < daysMin)
    throw new ConfigurationError(`INBOX_KEEP_DAYS must be at least ${Math.ceil(daysMin)} with this EVENTS_KEEP_HOURS`)
}
