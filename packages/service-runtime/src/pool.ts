// For a program that has part of a service's data, but no operations and no messages: the public games. It loads nothing
// of NATS, of MikroORM or of the table of operations, and so needs half the memory of a service.
export { connectPool } from './database/connect.ts'
export type { Database, Db, ReadDb } from './database/db.ts'
export { isPassingFault } from './database/faults.ts'
export { serviceConfig } from './settings.ts'
