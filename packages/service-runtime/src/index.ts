export { type Clock, systemClock } from './clock.ts'
export { recordAction } from './commands/audit.ts'
export {
  type Call,
  type CommandHandler,
  type CommandTools,
  command,
  type Handler,
  posting,
  type QueryHandler,
  type QueryTools,
  query,
  type Sql,
  UnfinishedOperation,
} from './commands/handlers.ts'
export { sqlOf } from './commands/unit-of-work.ts'
export { ConfigurationError, loadConfig, type ServiceConfig, serviceConfig } from './config.ts'
export { inTransaction, sqlState } from './database/connect.ts'
export { migrate } from './database/migrate.ts'
export { provisionDatabase, roleName } from './database/provision.ts'
export { type NamedMigration, runtimeTables } from './database/runtime-tables.ts'
export { verifiedUrl } from './database/tls.ts'
export { type Reaction, type ReactionTools, reaction } from './events/consumer.ts'
export { isConnectionFault } from './faults.ts'
export { Gatherer, GathererFullError } from './gatherer.ts'
export { newId } from './ids.ts'
export { createLogger, type Logger } from './log.ts'
export { purge, type Retention, runtimeRetentions } from './purge.ts'
export { type CallOptions, RpcClient } from './rpc/client.ts'
export { assertServerVersion, connectNats, type NatsConfig } from './rpc/connect.ts'
export { SecretBox, secretBoxFrom } from './secret-box.ts'
export {
  type Background,
  type HandlersOf,
  type RunningService,
  runService,
  type ServiceContext,
  type ServiceDefinition,
  startService,
} from './service.ts'
export { durations, gauges, meter, type Observation } from './telemetry/metrics.ts'
export { compile, inputSchema, validate } from './validation.ts'
