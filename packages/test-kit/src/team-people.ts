import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TeamRole, type TeamTool, teamRoles } from '@backoffice/contracts'
import {
  identityFrom,
  importSessionKey,
  issuerKeys,
  MachineSigner,
  newSessionKey,
  PersonSigner,
  type SessionKey,
  type TeamSigner,
  type TrustedTeam,
} from '@backoffice/team-identity'

/** People with every role. The third took no part in decisions that take two people. */
const withEveryRole = ['alice', 'bob', 'carol'] as const
/** People of the team on a test bed: those, and one with each role alone, who is called like it. */
export type TeamUser = (typeof withEveryRole)[number] | TeamRole

const issuer = 'https://identity.test'
const audience = 'backoffice-cli'
const everything = 'everything'
const machineName = 'nightly'

export interface LoginOptions {
  readonly now?: () => Date
  /** How long ago the person logged in. */
  readonly loggedInSecondsAgo?: number
  readonly tool?: TeamTool
  /** What the ID token says instead. */
  readonly claims?: Readonly<Record<string, unknown>>
}

/**
 * The company's identity provider, as services see it: its key, and ID tokens that it signs. Logging in itself is tried
 * against a real provider elsewhere.
 */
export class TestIssuer {
  readonly #key = generateKeyPairSync('ed25519')
  readonly #dir = mkdtempSync(join(tmpdir(), 'backoffice-issuer-'))
  readonly #keysFile = join(this.#dir, 'keys.json')
  readonly #machineKey = generateKeyPairSync('ed25519')
  readonly #machinesFile = join(this.#dir, 'machines.json')

  constructor() {
    const jwk = this.#key.publicKey.export({ format: 'jwk' })
    writeFileSync(this.#keysFile, JSON.stringify({ keys: [{ ...jwk, kid: 'test', alg: 'EdDSA', use: 'sig' }] }))
    const publicKey = this.#machineKey.publicKey.export({ format: 'jwk' })
    writeFileSync(this.#machinesFile, JSON.stringify([{ name: machineName, publicKey, roles: teamRoles }]))
  }

  /** The settings with which a service knows its people. */
  get settings(): Readonly<Record<string, string>> {
    return {
      TEAM_ISSUER: issuer,
      TEAM_KEYS_FILE: this.#keysFile,
      TEAM_MACHINES_FILE: this.#machinesFile,
      TEAM_NAME_CLAIM: 'preferred_username',
      TEAM_GROUP_ROLES: JSON.stringify({
        [everything]: teamRoles,
        ...Object.fromEntries(teamRoles.map((role) => [role, [role]])),
      }),
    }
  }

  /** Who belongs to the team, as a service with these settings knows it. */
  get team(): TrustedTeam {
    const identity = identityFrom(this.settings)
    return { identity, keys: issuerKeys(identity) }
  }

  /** A person who logs in anew for each call, so that a clock which jumps ends no session. */
  signer(user: TeamUser, options: LoginOptions = {}): TeamSigner {
    const { now = () => new Date(), tool = 'command line' } = options
    let key: Promise<SessionKey> | undefined
    return {
      sign: async (call) => {
        key ??= newSessionKey()
        const session = await key
        const idToken = this.idToken(user, session, options)
        return new PersonSigner({ idToken, key: session, tool, now }).sign(call)
      },
    }
  }

  /** A machine with every role. */
  machine({ now = () => new Date() }: Pick<LoginOptions, 'now'> = {}): TeamSigner {
    const key = importSessionKey(this.#machineKey.privateKey.export({ format: 'jwk' }))
    return {
      sign: async (call) =>
        new MachineSigner({ name: machineName, privateKey: (await key).privateKey, now }).sign(call),
    }
  }

  idToken(user: TeamUser, { thumbprint }: SessionKey, options: LoginOptions = {}): string {
    const { now = () => new Date(), loggedInSecondsAgo = 0, claims = {} } = options
    const at = Math.floor(now().getTime() / 1_000) - loggedInSecondsAgo
    return this.#signed({
      iss: issuer,
      aud: audience,
      sub: user,
      preferred_username: user,
      groups: [teamRoles.some((role) => role === user) ? user : everything],
      nonce: thumbprint,
      iat: at,
      auth_time: at,
      exp: at + 3_600,
      ...claims,
    })
  }

  #signed(claims: Readonly<Record<string, unknown>>): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const text = `${part({ alg: 'EdDSA', kid: 'test' })}.${part(claims)}`
    return `${text}.${sign(null, Buffer.from(text), this.#key.privateKey).toString('base64url')}`
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true })
  }
}
