export { type ExpectedDelegation, verifyDelegation } from './delegation.ts'
export { nonceOf, sessionIn } from './id-token.ts'
export { fixedKeys, type IssuerKey, type IssuerKeys, issuerKeys, KeysUnavailable } from './issuer-keys.ts'
export { auditedInput, type CallToProve, inputDigest, type Proof, subjectAndReason } from './proof.ts'
export { isInputProven, RecordedCalls, type TrustedTeam, trustedTeam } from './recorded-calls.ts'
export { IdentityRefused, type RefusalReason } from './refused.ts'
export { importReplyKey, newReplyKey, type ReplyKeyPair, sealerTo } from './sealed-reply.ts'
export { DelegatedSigner, MachineSigner, PersonSigner, type TeamSigner } from './session.ts'
export { exportSessionKey, importSessionKey, newSessionKey, type SessionJwk, type SessionKey } from './session-key.ts'
export {
  type IdentitySettings,
  identityFrom,
  identityOf,
  identitySettings,
  strongLoginOf,
  type TeamIdentity,
} from './settings.ts'
export { type StrongLogin, strongLoginParameters } from './strong-login.ts'
export { TeamVerifier } from './verifier.ts'
export { isSame, objectOf, refusalOf, type TeamCaller, type Who } from './who.ts'
