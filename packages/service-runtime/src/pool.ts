// The database alone, for a program without operations and without messages: the public games, which have part of a
// service's data, and the migrator. It loads nothing of NATS, of MikroORM or of the table of operations, and so needs half
// the memory of a service.
export { connectPool, readerOf, verifiedUrl } from './database/connect.ts'
export type { Database, Db, ReadDb } from './database/db.ts'
export { isCatalogueRace, isLockTimeout, isPassingFault, isRetryable } from './database/faults.ts'
export type { Migration } from './database/runtime-tables.ts'
export { serviceConfig } from './settings.ts'
