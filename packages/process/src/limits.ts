import { Type } from '@sinclair/typebox'
import { ConfigurationError, developmentSetting, loadConfig } from './config.ts'

/** How long the product waits for what usually comes at once, and leaves work to the process that has taken it. */
const inProductionMs = {
  /** A service replies, where the operation says nothing else. */
  call: 8_000,
  /** A connection to PostgreSQL is opened. */
  connection: 3_000,
  /** PostgreSQL says something: longer than its own limits for statements and idle transactions. */
  silence: 25_000,
  statement: 15_000,
  idleTransaction: 20_000,
  /** A lock that a batch waits for. It is short, because others wait behind the batch. */
  lock: 1_000,
  /**
   * A lock on a table that a migration waits for. It holds up everybody who comes after, readers too, so it gives up long
   * before a request does.
   */
  migrationLock: 2_000,
  /** A statement of a transaction of a migration, which holds locks. What takes longer is not transactional. */
  migrationStatement: 10_000,
  /** JetStream replies. */
  jetStream: 5_000,
  /** The backends reply to a program that says whether it is ready. */
  readiness: 2_000,
  /** A command of the outbox is left to the process that wrote it: longer than a call takes. */
  commandLease: 15_000,
  /** An event is left to the process that wrote it: as long as it is published. */
  eventLease: 5_000,
  /** Rows of the outbox are left to a relay: longer than it takes for as many as it leases. */
  relayLease: 30_000,
} as const
type Limit = keyof typeof inProductionMs

let patience = 1
const inThisProcessMs: Record<Limit, number> = { ...inProductionMs }
export const limitsMs: Readonly<Record<Limit, number>> = inThisProcessMs

const patienceConfig = Type.Object({
  DEVELOPMENT: developmentSetting,
  /** By how much slower than production this machine is at its worst. */
  PATIENCE: Type.Number({ minimum: 1, default: 1 }),
})

/**
 * Makes each limit of this process so many times as long, and keeps their order. A program does so before anything else.
 * In production the limits are what operators rely on, so there they are as they stand here.
 * @throws {ConfigurationError}
 */
export function bePatient(environment: Readonly<Record<string, string | undefined>>): void {
  const { DEVELOPMENT, PATIENCE } = loadConfig(patienceConfig, environment)
  if (PATIENCE !== 1 && !DEVELOPMENT) throw new ConfigurationError('PATIENCE is for DEVELOPMENT=true only')
  patience = PATIENCE
  for (const [limit, ms] of Object.entries(inProductionMs)) inThisProcessMs[limit as Limit] = patiently(ms)
}

/** A limit that is known only here, or a setting. */
export const patiently = (ms: number): number => Math.ceil(ms * patience)
