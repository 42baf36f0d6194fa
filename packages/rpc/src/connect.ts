import { defined, inboxOf } from '@backoffice/contracts'
import { type Logger, patiently, retry, secret } from '@backoffice/process'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { type Static, type TObject, Type } from '@sinclair/typebox'

/**
 * 2.9 is the first version with everything that is used here: request/reply, JetStream with de-duplication, durable
 * pull consumers, delayed nak.
 */
const serverVersionMin = [2, 9, 0] as const
const connectRetryMs = 500
/** How often it says that it still waits. */
const sayEveryMs = 30_000
const reconnectWaitMs = 250

/** The settings of a program that speaks to NATS, by the names of their environment variables. */
export const natsSettings = {
  NATS_URL: Type.String({ minLength: 1 }),
  NATS_USER: Type.Optional(Type.String({ minLength: 1 })),
  NATS_PASSWORD: Type.Optional(secret()),
  /** PEM files; set all that the server asks for. */
  NATS_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
  NATS_CERT_FILE: Type.Optional(Type.String({ minLength: 1 })),
  NATS_KEY_FILE: Type.Optional(Type.String({ minLength: 1 })),
}
export type NatsConfig = Static<TObject<typeof natsSettings>>

export interface NatsOptions {
  /** Of the program. */
  readonly name: string
  /** Tells a program's connections apart. */
  readonly purpose?: string
  readonly log?: Logger
  /** Without it, a server that cannot be reached is waited for as long as the process lives. */
  readonly attemptsMax?: number
  /** Between two attempts. */
  readonly retryMs?: number
}

/**
 * Connects, and stays connected: it reconnects for ever by itself. Replies come to an inbox prefix of the user's own,
 * which nobody else may read.
 */
export async function connectNats(config: NatsConfig, options: NatsOptions): Promise<NatsConnection> {
  const { attemptsMax = Number.POSITIVE_INFINITY, retryMs = connectRetryMs } = options
  let saidAt = Number.NEGATIVE_INFINITY
  const attempt = async () => {
    const connection = await connect({
      servers: config.NATS_URL.split(','),
      name: options.purpose === undefined ? options.name : `${options.name} ${options.purpose}`,
      ...defined({ user: config.NATS_USER, pass: config.NATS_PASSWORD }),
      // A server without users permits everything, but services reply to such an inbox only.
      inboxPrefix: inboxOf(config.NATS_USER ?? options.name),
      ...tlsOf(config),
      maxReconnectAttempts: -1,
      reconnectDelayHandler: reconnectDelay(),
      // While a password is being changed on both sides it is wrong for a moment, so keep trying.
      ignoreAuthErrorAbort: true,
      pingInterval: patiently(10_000),
      maxPingOut: 2,
      ignoreClusterUpdates: true,
      // Its stack traces cost more than the rest of a request.
      noAsyncTraces: true,
    })
    assertServerVersion(connection.info?.version ?? '0')
    return connection
  }
  return retry(attempt, {
    attemptsMax,
    pauseMs: retryMs,
    while(err, attempt) {
      if (err instanceof ServerVersionError) return false
      if (performance.now() >= saidAt + sayEveryMs) {
        saidAt = performance.now()
        options.log?.warn({ err, attempt }, 'NATS cannot be reached yet; it is tried again')
      }
      return true
    },
  })
}

/**
 * How long the client waits after its last attempt to connect. It counts by the wall clock. After a step back by an hour
 * it would make no attempt for an hour, so then it makes one at once. The client asks before each attempt, so the clocks
 * are compared with those of the last attempt.
 */
function reconnectDelay(): () => number {
  const wallAgainstMonotonic = () => Date.now() - performance.now()
  let atLastAttempt = wallAgainstMonotonic()
  return () => {
    const now = wallAgainstMonotonic()
    const steppedBack = now < atLastAttempt - reconnectWaitMs
    atLastAttempt = now
    return steppedBack ? Number.NEGATIVE_INFINITY : reconnectWaitMs
  }
}

/** The client reads the files at each connect, so a renewed certificate needs no restart. */
function tlsOf(config: NatsConfig): { tls?: { caFile?: string; certFile?: string; keyFile?: string } } {
  const { NATS_CA_FILE: caFile, NATS_CERT_FILE: certFile, NATS_KEY_FILE: keyFile } = config
  return caFile === undefined && certFile === undefined ? {} : { tls: defined({ caFile, certFile, keyFile }) }
}

class ServerVersionError extends Error {
  override readonly name = 'ServerVersionError'
}

/** An older server silently ignores settings that it does not know, so a service does not start with it. */
export function assertServerVersion(version: string): void {
  const parts = version.split(/[.-]/).map(Number)
  for (const [index, least] of serverVersionMin.entries()) {
    const part = parts[index] ?? 0
    if (part > least) return
    if (!(part >= least))
      throw new ServerVersionError(
        `nats-server ${version} is too old: ${serverVersionMin.join('.')} or newer is needed`,
      )
  }
}
