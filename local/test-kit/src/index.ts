export { freePort } from '@backoffice/local-stack'
export { areContainersWanted, postgres, startTestPostgres } from './backends.ts'
export { recoverCopy, takeBaseBackup } from './base-backup.ts'
export {
  askAs,
  type Callers,
  callersOf,
  type Fields,
  holdWinAs,
  inputOf,
  isInputKnown,
  newDeposit,
  newOperatorOf,
  newPlayerOf,
  newWithdrawal,
  pix,
  reason,
  richPlayer,
  stakeAs,
} from './calls.ts'
export { type CertificateFiles, makeCertificate, makeClientCertificate } from './certificates.ts'
export { drawn } from './drawn.ts'
export {
  acknowledge,
  allPages,
  answeredAsFaults,
  type HttpCall,
  type HttpReply,
  inLanes,
  OperatorClient,
  type Received,
  replyWith,
  serveHttp,
  startReceiver,
  verifies,
} from './http.ts'
export { playerOf, playOf } from './plays.ts'
export { depositConfirmed, holdOpen, keptEvents, keptMessages, lockIsAwaited, newCpf, newPlayer } from './records.ts'
export {
  eventually,
  isSlow,
  type StartedProcess,
  shortPatience,
  skipWithout,
  startProcess,
  type Teardown,
  temporaryFolder,
  toolPath,
  unlessRequired,
} from './started.ts'
export {
  type SharedSystem,
  type System,
  type SystemOptions,
  sharedSystem,
  sharedSystemVariable,
  startSharedSystem,
  startSystem,
} from './system.ts'
export {
  byTwo,
  codeOf,
  lookingFirst,
  type ProposedCommand,
  proposalOf,
  reconcile,
  refusal,
  seenSubmission,
  seenWithdrawal,
  type TeamClient,
  type Unseen,
  withSeen,
} from './team-calls.ts'
export { type LoginOptions, type TeamUser, TestIssuer } from './team-people.ts'
export { natsPassword, type TestBed, type TestBedOptions, type TestRpc, testBed } from './test-bed.ts'
export { searchPathOf, TestTime, TestTimers, timeZoneAtNoon } from './time.ts'
