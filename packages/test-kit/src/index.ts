export { freePort } from '@backoffice/dev-stack'
export { recoverCopy, takeBaseBackup } from './base-backup.ts'
export { natsPassword } from './bed-nats.ts'
export { type CertificateFiles, makeCertificate, makeClientCertificate } from './certificates.ts'
export { areContainersWanted } from './containers.ts'
export { depositConfirmed } from './deposit-confirmed.ts'
export { eventually } from './eventually.ts'
export { answeredAsFaults } from './fuzzed-http.ts'
export { held, lockIsAwaited } from './held.ts'
export { allPages, inLanes } from './in-lanes.ts'
export { keptEvents, keptMessages } from './kept-events.ts'
export { newCpf, newPlayer } from './new-player.ts'
export { type HttpCall, type HttpReply, OperatorClient } from './operator-client.ts'
export { postgres, startTestPostgres } from './postgres.ts'
export { byTwo, type ProposedCommand, proposalOf } from './proposal.ts'
export { acknowledge, type Received, replyWith, startReceiver, verifies } from './receiver.ts'
export { reconcile } from './reconcile.ts'
export { codeOf, refusal } from './refusal.ts'
export { lookingFirst, seenSubmission, seenWithdrawal, type TeamClient, type Unseen, withSeen } from './seen.ts'
export { serveHttp } from './serve-http.ts'
export { type StartedProcess, startProcess } from './started-process.ts'
export {
  type SharedSystem,
  type System,
  type SystemOptions,
  sharedSystem,
  sharedSystemVariable,
  startSharedSystem,
  startSystem,
} from './system.ts'
export { type LoginOptions, type TeamUser, TestIssuer } from './team-people.ts'
export { temporaryFolder } from './temporary-folder.ts'
export { type Teardown, type TestBed, type TestBedOptions, type TestRpc, testBed } from './test-bed.ts'
export { searchPathOf, TestTime, timeZoneAtNoon } from './test-time.ts'
export { TestTimers } from './test-timers.ts'
export { skipWithout, toolPath, unlessRequired } from './tools.ts'
