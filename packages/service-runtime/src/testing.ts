// For what starts or tests services: the test kit, the benchmark.
export { connectDatabase } from './database/connect.ts'
export { knownStatements } from './database/db.ts'
export { analyzeYoungTables, purge, runtimeRetentions } from './database/purge.ts'
export type { Interceptor } from './database/step.ts'
export { outboxBacklog } from './outbox/store.ts'
export { type RunningService, type Service, startService } from './service.ts'
