// What services are made of. Tests, and the programs that start services, take the rest from ./testing.ts.

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
} from './commands/handle.ts'
export { countStoredBytes } from './commands/record.ts'
export {
  endCommand,
  findCommand,
  fitting,
  isKnownOperation,
  lockCommand,
  toPage,
  type UnfinishedCommand,
  type WithTimes,
  withIsoTimes,
} from './commands/reply.ts'
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
export { Gatherer } from './gatherer.ts'
export { enterInbox, type Reaction, type ReactionTools } from './messages/consumer.ts'
export { readEvent } from './messages/event-stream.ts'

export {
  type EmittedEvent,
  findUnfinished,
  isUnfinished,
  type SentCommand,
  type SentMessage,
  unfinishedCommands,
} from './outbox/store.ts'
export { type Background, defineService, type HandlersOf, runService, type ServiceContext } from './service.ts'
