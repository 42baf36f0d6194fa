// What services and their plugins are made of. Tests, and the programs that start services, take the rest from ./testing.ts.
import { endCommand, findCommand, lockCommand } from './commands/reply.ts'
import { enterInbox } from './messages/consumer.ts'
import { readEvent } from './messages/event-stream.ts'
import { findUnfinished, isUnfinished, unfinishedCommands } from './outbox/store.ts'

export {
  batchFaultOf,
  type Database,
  type Db,
  type Fragment,
  isPassingFault,
  type LockingDb,
  type ReadDb,
  readerOf,
  readNow,
  readOver,
  sql,
  sqlState,
  type Transaction,
  verifiedUrl,
} from '@backoffice/database'
export { Batcher } from './batcher.ts'
export type { Govern, Governed, Outcome } from './commands/handle.ts'
export {
  type ApprovedProposal,
  type Approver,
  type Call,
  type Handler,
  handle,
  type Tools,
  UnfinishedOperation,
} from './commands/handle.ts'
export { countStoredBytes } from './commands/record.ts'
export {
  fitting,
  isKnownOperation,
  isStorable,
  toPage,
  type WithTimes,
  withIsoTimes,
} from './commands/reply.ts'
export { assertDurable } from './database/prepared.ts'
export {
  appendOnly,
  brandTable,
  changed,
  type Migration,
  neverDeleted,
  onlyInSandbox,
  runtimeMigrations,
} from './database/runtime-tables.ts'
export type { Reaction } from './messages/consumer.ts'
export { DatabaseHistory } from './messages/event-stream.ts'
export type { SentMessage } from './outbox/store.ts'
export {
  type Background,
  defineService,
  type HandlersOf,
  type Plugin,
  runService,
  type ServiceContext,
} from './service.ts'

/** What a service has sent and its receivers have not done, and how it gives a command up. */
export const outbox = { isUnfinished, findUnfinished, unfinishedCommands, findCommand, lockCommand, endCommand }

/** How a service handles an event again that it has set aside. */
export const inbox = { readEvent, enter: enterInbox }
