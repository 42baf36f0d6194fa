import { setTimeout as wait } from 'node:timers/promises'
import {
  abandonOperation,
  listAudit,
  type Operation,
  type operations as operationTable,
  type ServiceName,
} from '@backoffice/contracts'
import type { MikroORM } from '@mikro-orm/postgresql'
import type { NatsConnection } from '@nats-io/transport-node'
import { sql } from 'kysely'
import { type Clock, systemClock } from './clock.ts'
import { readAudit } from './commands/audit.ts'
import {
  type CommandHandler,
  type CommandTools,
  type Handler,
  posting,
  type QueryHandler,
  query,
} from './commands/handlers.ts'
import { Runner } from './commands/runner.ts'
import { sqlOf } from './commands/unit-of-work.ts'
import type { ServiceConfig } from './config.ts'
import { connectDatabase, type Entities } from './database/connect.ts'
import { EventConsumer, type Reaction } from './events/consumer.ts'
import { startHealthServer } from './health.ts'
import { createLogger, type Logger } from './log.ts'
import { measureOutbox } from './outbox/backlog.ts'
import { EventPublisher } from './outbox/publisher.ts'
import { Relay } from './outbox/relay.ts'
import { StreamWatch } from './outbox/stream-watch.ts'
import { type Retention, runtimeRetentions, startPurging } from './purge.ts'
import { RpcClient } from './rpc/client.ts'
import { connectNats } from './rpc/connect.ts'
import { RpcServer, type ServedOperation } from './rpc/server.ts'
import { flushTelemetry } from './telemetry/flush.ts'

type Table<S extends ServiceName> = (typeof operationTable)[S]
// biome-ignore lint/suspicious/noExplicitAny: what a command prepares is between its own two steps
type HandlerOf<O> = O extends Operation ? QueryHandler<O> | CommandHandler<O, any> : never

/** One handler for each operation of the table that reaches the service over NATS. */
export type HandlersOf<S extends ServiceName> = S extends 'gateway'
  ? { readonly [K in keyof Table<S>]?: HandlerOf<Table<S>[K]> }
  : { readonly [K in keyof Table<S>]: HandlerOf<Table<S>[K]> }

/** What the parts of a service share. */
export interface ServiceContext {
  readonly orm: MikroORM
  readonly rpc: RpcClient
  readonly connection: NatsConnection
  readonly clock: Clock
  readonly log: Logger
  /** Committed outbox rows are sent at once instead of at the next poll. */
  readonly nudgeOutbox: () => void
  /** One transaction with the tools of a command, for work that no request asked for: a sweeper's, a scheduler's. */
  readonly transact: <T>(run: (tools: CommandTools) => Promise<T>) => Promise<T>
}

/** Something that runs beside the operations: a sweeper, a scheduler, an HTTP listener. */
export interface Background {
  /** Told at once when the process is asked to end: from now on nobody new shall come, but whoever comes is served. */
  leave?(): void
  /** Takes no new work and finishes what is under way. */
  stop(): Promise<void>
  /** Whether it can work now; asked by /readyz. */
  ready?(): boolean
}

export interface ServiceDefinition<S extends ServiceName> {
  readonly name: S
  readonly config: ServiceConfig
  readonly entities: Entities
  /** Called once the backends are connected: handlers may close over what they share. */
  readonly operations: (context: ServiceContext) => HandlersOf<S>
  readonly reactions?: (context: ServiceContext) => readonly Reaction[]
  readonly background?: (context: ServiceContext) => readonly Background[] | Promise<readonly Background[]>
  readonly retentions?: readonly Retention[]
  /**
   * For what answers by itself when PostgreSQL or NATS is away: /readyz does not look at them, or every replica would be
   * taken out of service at once, and nobody would be there to say what is the matter.
   */
  readonly readyWithoutBackends?: boolean
  readonly clock?: Clock | undefined
}

export interface RunningService extends ServiceContext {
  readonly healthPort: number
  /** Fails /readyz, after DRAIN_DELAY_MS stops taking work, finishes what is under way, and closes everything. Safe to call twice. */
  drain(): Promise<void>
}

/** Starts a service: database, NATS, operations, outbox relay, reactions, purging and health. */
export async function startService<S extends ServiceName>(definition: ServiceDefinition<S>): Promise<RunningService> {
  const { name, config, clock = systemClock } = definition
  const log = createLogger(name, config.LOG_LEVEL)
  const orm = await connectDatabase(name, config, definition.entities)
  const connection = await connectNats(config, { name, log })
  const rpc = new RpcClient(connection)
  const publisher = new EventPublisher(connection, config.EVENTS_REPLICAS)
  const relay = new Relay({ orm, rpc, publisher, clock, log })
  const runner = new Runner({ orm, rpc, relay, clock, log })
  const shared: ServiceContext = {
    orm,
    rpc,
    connection,
    clock,
    log,
    nudgeOutbox: () => relay.nudge('command', 'event'),
    transact: (run) => runner.transact(run),
  }

  const handlers = [...(Object.values(definition.operations(shared)) as Handler[]), ...builtIn(name, runner)]
  const served = handlers.map(
    (handler): ServedOperation => ({ operation: handler.operation, run: (call) => runner.run(handler, call) }),
  )
  const server = new RpcServer({ served, log })

  const watch = new StreamWatch({ orm, connection, publisher, clock, log })
  await watch.start()
  relay.start()
  const stopMeasuring = measureOutbox(orm, name)
  const consumers = (definition.reactions?.(shared) ?? []).map(
    (entry) => new EventConsumer({ service: name, orm, connection, clock, log }, entry),
  )
  for (const consumer of consumers) consumer.start()
  const purging = startPurging({ orm, clock, log }, [...runtimeRetentions, ...(definition.retentions ?? [])])
  const background = (await definition.background?.(shared)) ?? []
  server.listen(connection, name)
  await connection.flush()

  let draining: Promise<void> | undefined
  const ready = async () =>
    draining === undefined &&
    background.every((entry) => entry.ready?.() ?? true) &&
    (definition.readyWithoutBackends === true || (await answers(shared)))
  const health = await startHealthServer({ host: config.HEALTH_HOST, port: config.HEALTH_PORT, ready })
  log.info({ healthPort: health.port }, 'started')

  const drain = async () => {
    for (const entry of background) entry.leave?.()
    await wait(config.DRAIN_DELAY_MS)
    // What takes work from outside stops first; what finishes that work stops last.
    await Promise.all([
      server.drain(),
      ...background.map((entry) => entry.stop()),
      ...consumers.map((consumer) => consumer.stop()),
    ])
    await Promise.all([relay.stop(), watch.stop(), purging.stop()])
    stopMeasuring()
    await flushTelemetry()
    await connection.drain()
    await orm.close()
    await health.close()
    log.info('drained')
  }
  return {
    ...shared,
    healthPort: health.port,
    drain() {
      draining ??= drain()
      return draining
    },
  }
}

/** The operations that every service answers. */
function builtIn(service: ServiceName, runner: Runner): Handler[] {
  return [
    posting(abandonOperation(service), ({ input }) => runner.abandon(input.abandonedOperationId)),
    query(listAudit(service), readAudit),
  ]
}

const readinessTimeoutMs = 2_000

async function answers({ orm, connection }: ServiceContext): Promise<boolean> {
  const timeout = new Promise<boolean>((resolve) => setTimeout(resolve, readinessTimeoutMs, false).unref())
  const check = (async () => {
    if (connection.isClosed()) return false
    await Promise.all([connection.flush(), sql`select 1`.execute(sqlOf(orm.em.fork()))])
    return true
  })()
  return Promise.race([check.catch(() => false), timeout])
}

/** Runs a service as a process: drains on SIGTERM and SIGINT, and exits with 1 when it cannot start. */
export async function runService(start: () => Promise<RunningService>): Promise<void> {
  try {
    const service = await start()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        service.drain().then(
          () => process.exit(0),
          (error) => {
            service.log.error({ err: error }, 'could not drain')
            process.exit(1)
          },
        )
      })
    }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    process.exit(1)
  }
}
