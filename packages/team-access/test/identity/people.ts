import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t from 'tap'
import {
  type CallToProve,
  DelegatedSigner,
  type IdentitySettings,
  identitySettings,
  importSessionKey,
  newSessionKey,
  PersonSigner,
  type Proof,
  type RefusalReason,
  type SessionKey,
} from '../../src/identity/index.ts'

// A company with an identity provider, people in groups, and a machine.

export const now = new Date('2026-03-02T12:00:00Z')
export const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)
export const issuer = 'https://id.example.com'
export const deployment = 'https://console.example.com'
export const call: CallToProve = {
  operation: 'payments.decideWithdrawal',
  operationId: 'opn_1',
  input: { withdrawalId: 'wdr_1', decision: 'approve' },
}

export const provider = await generateKeyPair('RS256', { extractable: true })
export const stranger = await generateKeyPair('RS256', { extractable: true })
export const machine = await generateKeyPair('EdDSA', { extractable: true })
export const dir = t.testdir({})
const keysFile = join(dir, 'keys.json')
const machinesFile = join(dir, 'machines.json')
writeFileSync(
  keysFile,
  JSON.stringify({ keys: [{ ...(await exportJWK(provider.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }] }),
)
const { kty, crv, x } = await exportJWK(machine.publicKey)
writeFileSync(machinesFile, JSON.stringify([{ name: 'nightly', publicKey: { kty, crv, x }, roles: ['finance'] }]))

export const settings = Value.Default(Type.Object(identitySettings), {
  TEAM_ISSUER: issuer,
  TEAM_DEPLOYMENT: deployment,
  TEAM_AUDIENCES: 'backoffice-cli,backoffice-console',
  TEAM_KEYS_FILE: keysFile,
  TEAM_GROUP_ROLES:
    '{"money": ["finance"], "keys": ["integration"], "kyc": ["compliance"], "both": ["finance", "compliance"]}',
  TEAM_MACHINES_FILE: machinesFile,
}) as IdentitySettings

export interface Given {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly key?: SessionKey
  readonly signedBy?: typeof provider
  readonly alg?: string
  /** Another key signs, which the session's lets read. These claims of the delegation are others. */
  readonly delegation?: Readonly<Record<string, unknown>>
}

/** A key as browsers make them. */
export async function browserKey(): Promise<SessionKey> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  return importSessionKey(await exportJWK(privateKey))
}

/** What a session's key signs so that another one may read. */
export function delegationOf({ publicJwk, privateKey }: SessionKey, claims: object, at = now): Promise<string> {
  const alg = publicJwk.kty === 'EC' ? 'ES256' : 'EdDSA'
  return new SignJWT({ aud: deployment, iat: seconds(at), exp: seconds(at) + 36_000, ...claims })
    .setProtectedHeader({ alg, typ: 'team-delegation+jwt', jwk: publicJwk })
    .sign(privateKey)
}

export async function idToken(session: SessionKey, { claims = {}, signedBy = provider, alg = 'RS256' }: Given = {}) {
  return new SignJWT({
    iss: issuer,
    aud: 'backoffice-cli',
    sub: 'u1',
    email: 'alice@example.com',
    email_verified: true,
    groups: ['money', 'unknown'],
    nonce: session.thumbprint,
    iat: seconds(now) - 600,
    auth_time: seconds(now) - 600,
    exp: seconds(now) - 300,
    ...claims,
  })
    .setProtectedHeader({ alg, kid: 'k1' })
    .sign(signedBy.privateKey)
}

export async function signed(given: Given & { readonly at?: Date; readonly as?: CallToProve } = {}): Promise<Proof> {
  const key = given.key ?? (await newSessionKey())
  const { at = now, as = call, delegation } = given
  const login = { idToken: await idToken(key, given), deployment, now: () => at }
  if (delegation === undefined) return new PersonSigner({ ...login, key, tool: 'console' }).sign(as)
  const delegate = await newSessionKey()
  const signed = await delegationOf(key, { delegate: delegate.thumbprint, ...delegation }, at)
  return new DelegatedSigner({ ...login, key: delegate, delegation: signed }).sign(as)
}

/** The refusal of a call, as `t.rejects` takes it. */
export const because = (reason: RefusalReason) => ({ name: 'IdentityRefused', reason }) as unknown as Error
