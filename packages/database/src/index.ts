// PostgreSQL for a program: a pool and the tag that all SQL goes through; vault.ts seals columns. It loads nothing of NATS
// or of the table of operations: the games have part of a service's data and no operations, and need 14 MiB less.

export type { Interceptor, Step } from './connect.ts'
export { connectDatabase, connectPool, databaseSettings, readerOf, readOver, verifiedUrl } from './connect.ts'
export {
  type Database,
  type Db,
  type Fragment,
  type LockingDb,
  lockingOver,
  type ReadDb,
  readNow,
  type Statements,
  sql,
  type Transaction,
  type TransactionOptions,
} from './db.ts'
export type { Entities } from './entities.ts'
export { type BatchFault, batchFaultOf, isPassingFault, isUniqueViolation, sqlState } from './faults.ts'
