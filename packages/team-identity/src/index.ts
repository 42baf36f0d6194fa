export { objectOf, refusalOf } from './admission.ts'
export { auditedInput, subjectAndReason } from './audited-input.ts'
export { fixedKeys, type IssuerKey, type IssuerKeys, issuerKeys, KeysUnavailable } from './issuer-keys.ts'
export { type CallToProve, inputDigest, type Proof } from './proof.ts'
export { isInputProven, RecordedCalls, type TrustedTeam } from './recorded-calls.ts'
export {
  exportSessionKey,
  importSessionKey,
  MachineSigner,
  newSessionKey,
  PersonSigner,
  type SessionKey,
  type TeamSigner,
} from './session.ts'
export { type IdentitySettings, identityFrom, identityOf, identitySettings, type TeamIdentity } from './settings.ts'
export { IdentityRefused, type RefusalReason, type TeamCaller, TeamVerifier } from './verifier.ts'
export { isSame, type Who } from './who.ts'
