// For what starts or tests services: the test kit, the benchmark.
export { connectDatabase } from './database/connect.ts'
export { type Interceptor, knownStatements } from './database/db.ts'
export { analyzeYoungTables, purge, runtimeRetentions } from './database/purge.ts'
export { outboxBacklog } from './outbox/store.ts'
export { type RunningService, type Service, startService } from './service.ts'
