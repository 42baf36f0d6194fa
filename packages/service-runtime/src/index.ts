// What services are made of. Tests, and the programs that start services, take the rest from ./testing.ts.

export {
  assignments,
  columnNames,
  type Database,
  type Db,
  type Fragment,
  identifier,
  type ReadDb,
  rowsOf,
  sql,
  unnest,
} from './database/db.ts'
export { batchFaultOf, isPassingFault } from './database/faults.ts'
export { dayMs, eventsKeepMsMin, hourMs, type Retention } from './database/purge.ts'
export type { SealedTable } from './database/sealed-tables.ts'
export { countStoredBytes } from './database/stored-bytes.ts'
export { Gatherer } from './gathering/gatherer.ts'
export type { Reaction } from './messages/consumer.ts'
export type { RpcClient } from './messages/rpc-client.ts'
export { findSetAside, listSetAside, rerunSetAside, type SetAsideMessage, takeSetAside } from './messages/set-aside.ts'
export { byService, insertAudit, recordAction } from './operations/audit.ts'
export { readProvenEntries } from './operations/export-audit.ts'
export {
  type ApprovedProposal,
  type Approver,
  type Call,
  type DirectTools,
  type ExecuteTools,
  type GivenTools,
  handle,
  type PrepareTools,
  UnfinishedOperation,
} from './operations/handle.ts'
export { fitting, toPage, type WithTimes, withIsoTimes } from './operations/page.ts'
export { isKnownOperation } from './operations/stored-reply.ts'
export { endCommand, findCommand, lockCommand, type UnfinishedCommand } from './operations/stuck-commands.ts'
export type { EmittedEvent, SentCommand, SentMessage } from './outbox/store.ts'
export { findUnfinished, isUnfinished, unfinishedCommands } from './outbox/unfinished.ts'
export {
  type Background,
  defineService,
  type HandlersOf,
  runService,
  type ServiceContext,
} from './service.ts'
export { validate } from './validation/validate.ts'
