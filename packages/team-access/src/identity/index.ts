// Who of the team calls: for who signs calls and who verifies them. It loads nothing of the runtime.
export type { CallToProve, Proof, TeamCaller, TeamSigner, Who } from '@backoffice/contracts'
export { importReplyKey, newReplyKey, type ReplyKeyPair, sealerTo } from '@backoffice/rpc/seal'
export { fixedKeys, type IssuerKey, type IssuerKeys, issuerKeys, KeysUnavailable } from './issuer-keys.ts'
export { auditedInput, type ExpectedDelegation, inputDigest, subjectAndReason, verifyDelegation } from './proof.ts'
export { isInputProven, RecordedCalls, type TrustedTeam, trustedTeam } from './recorded-calls.ts'
export { DelegatedSigner, MachineSigner, PersonSigner } from './session.ts'
export {
  exportSessionKey,
  IdentityRefused,
  importSessionKey,
  newSessionKey,
  type RefusalReason,
  type SessionJwk,
  type SessionKey,
} from './session-key.ts'
export {
  type IdentitySettings,
  identityFrom,
  identityOf,
  identitySettings,
  type StrongLogin,
  strongLoginOf,
  strongLoginParameters,
  type TeamIdentity,
} from './settings.ts'
export { faultOfApproval, faultOfPaymentFile } from './signed-payments.ts'
export { nonceOf, sessionIn } from './tokens.ts'
export { TeamVerifier } from './verifier.ts'
export { isSame, objectOf, refusalOf } from './who.ts'
