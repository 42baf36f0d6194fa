import {
  type Operation,
  type operations as operationTable,
  type RuntimeOperationId,
  type ServiceName,
  usesStream,
} from '@backoffice/contracts'
import type { Database, Entities, Interceptor } from '@backoffice/database'
import { connectDatabase, isPassingFault } from '@backoffice/database'
import { noVault, sealingSettings, vaultFrom } from '@backoffice/database/vault'
import {
  type Clock,
  createLogger,
  type Logger,
  limitsMs,
  loadConfig,
  type Measurement,
  runProcess,
  type StartedProgram,
  type StoppingStep,
  startMeasuring,
  startProgram,
  systemClock,
  systemTimers,
  type Timers,
  waitAtMost,
} from '@backoffice/process'
import { type AroundCall, connectNats, RpcClient, RpcServer } from '@backoffice/rpc'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import { builtInHandlers } from './commands/built-in.ts'
import type { Govern, Handler } from './commands/handle.ts'
import { type Transact, transactor } from './commands/record.ts'
import { Brands, Runner } from './commands/runner.ts'
import { untilPrepared } from './database/prepared.ts'
import { analyzing, purging, type Retention, runtimeRetentions } from './database/purge.ts'
import type { Migration } from './database/runtime-tables.ts'
import { EventConsumer, type Reaction } from './messages/consumer.ts'
import { DatabaseHistory, EventPublisher, EventStream } from './messages/event-stream.ts'
import { Dispatch, Relay } from './outbox/sending.ts'
import { outboxBacklog } from './outbox/store.ts'
import { StreamWatch } from './outbox/stream-watch.ts'
import { assertInboxOutlivesEvents, type ServiceConfig, serviceConfig } from './settings.ts'

type Table<S extends ServiceName> = (typeof operationTable)[S]

/**
 * Whether an operation reaches the service over NATS. The gateway's operations for operators are its own HTTP routes
 * instead.
 */
type Reaches<S extends ServiceName, O> = O extends Operation
  ? S extends 'gateway'
    ? O['audience'] extends 'internal' | 'team'
      ? true
      : false
    : true
  : false

/** One handler for each operation of the table that reaches the service over NATS, and for nothing else. */
export type HandlersOf<S extends ServiceName> = {
  readonly [K in keyof Table<S> as K extends RuntimeOperationId
    ? never
    : Reaches<S, Table<S>[K]> extends true
      ? K
      : never]: Table<S>[K] extends Operation ? Handler<Table<S>[K]> : never
}

/** What the parts of a service share. */
export interface ServiceContext {
  readonly db: Database
  readonly rpc: RpcClient
  readonly nats: NatsConnection
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  readonly transact: Transact
}

/** Something that runs beside the operations: a sweeper, a scheduler, an HTTP listener. */
export interface Background {
  start?(): Promise<void> | void
  /** Called at once when the process is asked to stop. It discourages new clients, and still serves those that come. */
  leave?(): void
  /** Takes no new work and finishes what is under way. */
  stop(): Promise<void>
  /** Whether it can work now; asked by /readyz. */
  ready?(): boolean
}

/** What a plugin is given once the backends are connected. */
export interface PluginContext<Settings> extends ServiceContext {
  readonly service: ServiceName
  readonly settings: Settings
  /** What the service itself serves. */
  readonly own: readonly Operation[]
}

/** What several services have beside their own work. Its tables are among the service's migrations. */
export interface Plugin<Settings = never> {
  /** Environment variables of its own. */
  readonly settings: TProperties
  /** What the schema cannot say about them. Throws before anything is connected. */
  assertSettings?(settings: Settings): void
  readonly retentions?: readonly Retention[]
  plug(context: PluginContext<Settings>): { readonly operations?: readonly Handler[]; readonly govern?: Govern }
}

/** What a service consists of, once its backends are connected. */
export interface Composition<S extends ServiceName, Addresses> {
  readonly operations: HandlersOf<S>
  readonly reactions?: readonly Reaction[]
  /** Started in this order, stopped all at once. */
  readonly background?: readonly Background[]
  readonly measurements?: readonly Measurement[]
  /** Where the service can be reached besides NATS; read once the background has started. */
  readonly addresses?: () => Addresses
}

type SettingsOf<P extends TProperties> = ServiceConfig & Static<TObject<P>>

interface Definition<S extends ServiceName, P extends TProperties, Outside, Addresses> {
  readonly name: S
  /** Environment variables of its own, besides the common ones. */
  readonly settings: P
  readonly plugins?: readonly Plugin[]
  /** What the schema cannot say about the settings. Throws before anything is connected. */
  assertSettings?(settings: SettingsOf<P>): void
  /** Loads the records that are edited one by one; nothing where SQL serves. */
  readonly entities?: () => Promise<Entities>
  readonly migrations: readonly Migration[]
  readonly retentions?: readonly Retention[]
  /**
   * For a service that can reply by itself while PostgreSQL or NATS is unavailable. /readyz then ignores them.
   * Otherwise every replica would be taken out of service at once, and nobody would be left to reply with 503.
   */
  readonly readyWithoutBackends?: boolean
  /** Whether this process serves the service's operations; it does by default. One that does not only calls others. */
  servesCalls?(settings: SettingsOf<P>): boolean
  /** @param outside what a test puts in place of the outside world, such as name servers */
  compose(context: ServiceContext, settings: SettingsOf<P>, outside: Partial<Outside>): Composition<S, Addresses>
}

/** A service as one object: its settings, data and parts. */
export interface Service<
  S extends ServiceName = ServiceName,
  P extends TProperties = TProperties,
  Outside = object,
  Addresses = unknown,
> extends Definition<S, P, Outside, Addresses> {
  /** The schema of all its settings; `loadConfig` reads them from the environment. */
  readonly configuration: TObject
}

export function defineService<
  S extends ServiceName,
  P extends TProperties,
  Outside extends object = object,
  Addresses = unknown,
>(definition: Definition<S, P, Outside, Addresses>): Service<S, P, Outside, Addresses> {
  const plugged = (definition.plugins ?? []).map(({ settings }) => settings)
  const configuration = Type.Object(Object.assign({}, serviceConfig.properties, ...plugged, definition.settings))
  return { ...definition, configuration: configuration as unknown as TObject }
}

export interface RunningService<Addresses = unknown> extends ServiceContext, StartedProgram {
  readonly addresses: Addresses
  /** Resolves when a connection to NATS has closed, with the reason. They reconnect by themselves, so none should. */
  readonly natsClosed: Promise<undefined | Error>
}

export interface StartOptions<Outside = object> {
  readonly clock?: Clock | undefined
  readonly timers?: Timers | undefined
  readonly outside?: Partial<Outside> | undefined
  /** Only for tests: stands around each step that the service takes outside of its process. */
  readonly intercept?: Interceptor | undefined
  /** False only in tests: what is marked is written in clear. */
  readonly seals?: boolean | undefined
}

/** How long each step of stopping may take after DRAIN_DELAY_MS. */
const takingWorkMsMax = 10_000
const finishingWorkMsMax = 7_000
const disconnectingMsMax = 2_000

/** Starts a service, when its schema is there: database, NATS, operations, outbox, reactions, background, purging and health. */
export async function startService<S extends ServiceName, P extends TProperties, Outside, Addresses>(
  service: Service<S, P, Outside, Addresses>,
  settings: SettingsOf<P>,
  options: StartOptions<Outside> = {},
): Promise<RunningService<Addresses>> {
  assertInboxOutlivesEvents(settings)
  service.assertSettings?.(settings)
  for (const plugin of service.plugins ?? []) plugin.assertSettings?.(settings as never)
  const backends = await connectBackends(service, settings, options)
  const { context, events } = backends
  const { db, nats, log } = context
  const composition = service.compose(context, settings, options.outside ?? {})
  const background = composition.background ?? []
  const parts = assemble(service, settings, backends, composition)

  await parts.watch?.start()
  parts.relay.start()
  const stopMeasuring = startMeasuring([outboxBacklog(db.reader, service.name), ...(composition.measurements ?? [])])
  for (const part of [...parts.consumers, ...parts.upkeep]) part.start()
  if (service.servesCalls?.(settings) !== false) parts.server.listen(nats, service.name)
  await nats.flush()
  for (const entry of background) await entry.start?.()

  const program = await startProgram({
    log,
    settings,
    ready: async () =>
      background.every((entry) => entry.ready?.() ?? true) &&
      (service.readyWithoutBackends === true ||
        ((!parts.watch || (backends.stream.wasFound && !backends.stream.differs)) &&
          (await areBackendsReachable(context)))),
    leave() {
      for (const entry of background) entry.leave?.()
    },
    // What takes work stops before what finishes it. What is unfinished by then is found in the outbox.
    stopping: [
      stopAll('taking work', takingWorkMsMax, [parts.server, ...background, ...parts.consumers]),
      stopAll('finishing work', finishingWorkMsMax, [
        { stop: () => parts.dispatch.stop().then(() => parts.relay.stop()) },
        ...[...(parts.watch ? [parts.watch] : []), ...parts.upkeep],
        { stop: async () => stopMeasuring() },
      ]),
      disconnect([events, nats]),
      { what: 'database connections', msMax: disconnectingMsMax, stop: () => db.close() },
    ],
  })
  return {
    ...context,
    ...program,
    addresses: (composition.addresses?.() ?? {}) as Addresses,
    natsClosed: Promise.race([nats.closed(), events.closed()]).then((reason) => reason ?? undefined),
  }
}

type Backends = Awaited<ReturnType<typeof connectBackends>>

/** Connects the database, whose schema it waits for, and NATS. */
async function connectBackends<S extends ServiceName, P extends TProperties, Outside, Addresses>(
  service: Service<S, P, Outside, Addresses>,
  settings: SettingsOf<P>,
  { clock = systemClock, timers = systemTimers, intercept, seals }: StartOptions<Outside>,
) {
  const { name } = service
  const log = createLogger(name, settings.LOG_LEVEL)
  const hasSealed = Object.keys(sealingSettings).every((setting) => setting in service.configuration.properties)
  const vault = hasSealed ? vaultFrom(name, settings, { seals }) : noVault
  const db = await connectDatabase(name, settings, { loadEntities: service.entities, vault, intercept })
  try {
    const { SCHEMA_WAIT_MS: waitMs, DEVELOPMENT: isDevelopment } = settings
    await untilPrepared(db, { migrations: service.migrations, waitMs, isDevelopment, log })
  } catch (error) {
    await db.close()
    throw error
  }
  // Events have a connection of their own: a broker whose disk is full or slow may read nothing more from the one that
  // a publication came on.
  const [nats, events] = await Promise.all([
    connectNats(settings, { name, log }),
    connectNats(settings, { name, purpose: 'events', log }),
  ])
  const around: AroundCall | undefined = intercept && ((name, send) => intercept({ kind: 'call', name }, send))
  const rpc = new RpcClient(nats, undefined, { around, timers })
  const history = new DatabaseHistory(db.reader)
  const stream = new EventStream({ connection: events, replicasMin: settings.EVENTS_REPLICAS, log })
  const publisher = new EventPublisher(events, { stream, history, intercept })
  const relay = new Relay({ db, rpc, publisher, log, timers })
  const context: ServiceContext = { db, rpc, nats, clock, timers, log, transact: transactor({ db, relay, log }) }
  return { context, events, history, stream, publisher, relay }
}

/** The parts that serve operations, take events, and look after the service's tables and stream. */
function assemble<S extends ServiceName, P extends TProperties, Outside, Addresses>(
  service: Service<S, P, Outside, Addresses>,
  settings: SettingsOf<P>,
  { context, events, history, stream, publisher, relay }: Backends,
  composition: Composition<S, Addresses>,
) {
  const { name, plugins = [] } = service
  const { db, rpc, clock, timers, log } = context
  const own = Object.values(composition.operations) as Handler[]
  const given = { ...context, service: name, settings: settings as never, own: own.map(({ operation }) => operation) }
  const plugged = plugins.map((plugin) => plugin.plug(given))
  const govern = plugged.find((plugin) => plugin.govern !== undefined)?.govern ?? ungoverned
  const dispatch = new Dispatch({ db, rpc, publisher, relay, log, timers })
  const runner = new Runner({ db, rpc, dispatch, clock, timers, log, govern })
  const handlers = [...own, ...builtInHandlers(name), ...plugged.flatMap(({ operations = [] }) => operations)]
  const served = handlers.map((handler) => runner.serve(handler))
  const retentions = [...runtimeRetentions, ...[...plugins, service].flatMap(({ retentions = [] }) => retentions)]
  return {
    relay,
    dispatch,
    server: new RpcServer({ served, brands: new Brands(db), isPassing: isPassingFault, log, timers }),
    consumers: (composition.reactions ?? []).map(
      (reaction) => new EventConsumer({ service: name, db, nats: events, stream, clock, timers, log }, reaction),
    ),
    upkeep: [purging({ db, clock, log }, retentions, settings), analyzing({ db, log })],
    watch: usesStream(name)
      ? new StreamWatch({ db, history, nats: events, stream, publisher, log, timers })
      : undefined,
  }
}

const ungoverned: Govern = ({ operation }) => {
  throw new Error(`no plugin of this service governs ${operation.id}`)
}

const stopAll = (what: string, msMax: number, parts: readonly { stop(): Promise<unknown> }[]): StoppingStep => ({
  what,
  msMax,
  stop: () => Promise.allSettled(parts.map((part) => part.stop())),
})

const disconnect = (connections: readonly NatsConnection[]): StoppingStep => ({
  what: 'NATS',
  msMax: disconnectingMsMax,
  stop: () => Promise.allSettled(connections.map((connection) => connection.drain())),
  late: () => Promise.allSettled(connections.map((connection) => connection.close())),
})

async function areBackendsReachable({ db, nats }: ServiceContext): Promise<boolean> {
  if (nats.isClosed()) return false
  const reachable = Promise.all([nats.flush(), db`select 1 as one`]).then(
    () => true,
    () => false,
  )
  return (await waitAtMost(limitsMs.readiness, reachable, () => {})) ?? false
}

export async function runService<S extends ServiceName, P extends TProperties, O, A>(
  service: Service<S, P, O, A>,
): Promise<void> {
  await runProcess(() => startService(service, loadConfig(service.configuration, process.env) as never), {
    // A connection reconnects by itself, for ever. If it did close, the process would look alive and hear nothing.
    broken: async ({ natsClosed }) => ({ message: 'the connection to NATS is closed', err: await natsClosed }),
  })
}
