// The database alone, for a program that has part of a service's data and no operations. It loads nothing of NATS or of the
// table of operations, and so needs 20 MiB less than a service.
export { connectPool } from './database/connect.ts'
export type { Statements } from './database/db.ts'
export { isPassingFault } from './database/faults.ts'
export { databaseSettings } from './database/settings.ts'
