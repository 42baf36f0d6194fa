export { fixedKeys, type IssuerKey, type IssuerKeys, issuerKeys, KeysUnavailable } from './issuer-keys.ts'
export { auditedInput, type CallToProve, inputDigest, type Proof, subjectAndReason } from './proof.ts'
export { isInputProven, RecordedCalls, type TrustedTeam, trustedTeam } from './recorded-calls.ts'
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
export { isSame, objectOf, refusalOf, type Who } from './who.ts'
