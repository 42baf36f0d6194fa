// What services are made of. Tests and the programs that start services take the rest from ./internal.ts.

export type { TeamCaller } from '@backoffice/team-identity'
export { assignments, columnNames, rowsOf, unnest } from './database/columns.ts'
export { readOver } from './database/connect.ts'
export type { Database, Db, ReadDb } from './database/db.ts'
export { batchFaultOf, isPassingFault, sqlState } from './database/faults.ts'
export { DatabaseHistory } from './database/history.ts'
export { dayMs, eventsKeepMsMin, hourMs, type Retention } from './database/purge.ts'
export { isEventToSeal, isReplyToSeal } from './database/sealed-copies.ts'
export type { SealedTable } from './database/sealed-tables.ts'
export { SecretBox, secretBoxFrom } from './database/secret-box.ts'
export { type Fragment, identifier, sql } from './database/statement.ts'
export { verifiedUrl } from './database/tls.ts'
export { type Place, sealingSettings, type Vault } from './database/vault.ts'
export type { Reaction } from './messages/consumer.ts'
export type { RpcClient } from './messages/rpc-client.ts'
export { findSetAside, listSetAside, rerunSetAside, type SetAsideMessage, takeSetAside } from './messages/set-aside.ts'
export { aloneUpTo, payAloneSettings } from './operations/alone-settings.ts'
export { byService, insertAudit, recordAction } from './operations/audit.ts'
export { readProvenEntries } from './operations/export-audit.ts'
export {
  type Call,
  type DirectTools,
  type ExecuteTools,
  type Given,
  handle,
  UnfinishedOperation,
} from './operations/handle.ts'
export { type WithTimes, withIsoTimes } from './operations/iso-times.ts'
export { withOperatorNames } from './operations/operator-names.ts'
export { fitting, toPage } from './operations/page.ts'
export { type PlayerTable, playerRows } from './operations/player-rows.ts'
export { isKnownOperation } from './operations/stored-reply.ts'
export { endCommand, findCommand, lockCommand, type UnfinishedCommand } from './operations/stuck-commands.ts'
export { type ApprovedProposal, approveFirst } from './operations/two-people.ts'
export type { EmittedEvent, Sent, SentCommand } from './outbox/rows.ts'
export { findUnfinished, isUnfinished, unfinishedCommands } from './outbox/unfinished.ts'
export { holderOf } from './process/address-holder.ts'
export {
  type CertificateFiles,
  certificateFiles,
  certificateSettings,
  keepCertificateFresh,
  useCertificate,
} from './process/certificate.ts'
export type { Clock } from './process/clock.ts'
export { ConfigurationError, secret } from './process/config.ts'
export { Gatherer } from './process/gatherer.ts'
export { firstId, newId } from './process/ids.ts'
export type { Logger } from './process/log.ts'
export { Loop } from './process/loop.ts'
export { runService } from './run.ts'
export { type Background, defineService, type HandlersOf, type RunningService, type ServiceContext } from './service.ts'
export { durations, type Measurement, measurement, meter } from './telemetry/metrics.ts'
export { countStoredBytes } from './telemetry/stored-bytes.ts'
export { validate } from './validation/validate.ts'
