// For what starts or tests services: the test kit, the benchmark.

export { connectDatabase, type Interceptor } from '@backoffice/database'
export { knownStatements } from '@backoffice/database/testing'
export { analyzeYoungTables, purge, runtimeRetentions } from './database/purge.ts'
export { outboxBacklog } from './outbox/store.ts'
export { type RunningService, type Service, startService } from './service.ts'
