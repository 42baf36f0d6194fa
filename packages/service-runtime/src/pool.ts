// The database alone: for who has part of a service's data and no operations, for who prepares it, and for who looks at
// it from outside. It loads nothing of NATS, of MikroORM or of the table of operations, and so needs half the memory of a
// service.
export { connectPool, readerOf, readOver, verifiedUrl } from './database/connect.ts'
export { fixed, type Statements } from './database/db.ts'
export { isCatalogueRace, isLockTimeout, isPassingFault, isRetryable, sqlState } from './database/faults.ts'
export { DatabaseHistory } from './database/history.ts'
export type { Migration } from './database/runtime-tables.ts'
export { databaseSettings } from './database/settings.ts'
