// For what starts or tests services: the test kit, the benchmark.
export { connectDatabase, readerOf, verifiedUrl } from './database/connect.ts'
export { type Interceptor, knownStatements, type Step } from './database/db.ts'
export { isPassingFault } from './database/faults.ts'
export { analyzeYoungTables, purge, retentionFor, runtimeRetentions } from './database/purge.ts'
export type { Migration } from './database/runtime-tables.ts'
export { outboxBacklog } from './outbox/store.ts'
export { type RunningService, type Service, startService } from './service.ts'
export { type ServiceConfig, serviceConfig } from './settings.ts'
