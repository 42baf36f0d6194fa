import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TeamRole, type TeamTool, teamRoles } from '@backoffice/contracts'
import {
  DelegatedSigner,
  identityFrom,
  importSessionKey,
  issuerKeys,
  MachineSigner,
  newSessionKey,
  PersonSigner,
  type SessionKey,
  type TeamSigner,
  type TrustedTeam,
} from '@backoffice/team-access/identity'

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
  /** Another key signs, which the person's session lets read. */
  readonly delegated?: true
  /** What the ID token says instead. */
  readonly claims?: Readonly<Record<string, unknown>>
}

/**
 * The company's identity provider, as services see it: its key, and ID tokens that it signs. Logging in itself is tried
 * against a real provider elsewhere.
 */
export class TestIssuer {
  /** The origin of the console, for which these people sign. */
  readonly deployment: string
  readonly #key = generateKeyPairSync('ed25519')
  readonly #dir = mkdtempSync(join(tmpdir(), 'backoffice-issuer-'))
  readonly #keysFile = join(this.#dir, 'keys.json')
  readonly #machineKey = generateKeyPairSync('ed25519')
  readonly #machinesFile = join(this.#dir, 'machines.json')

  constructor(deployment = 'http://console.test') {
    this.deployment = deployment
    const jwk = this.#key.publicKey.export({ format: 'jwk' })
    writeFileSync(this.#keysFile, JSON.stringify({ keys: [{ ...jwk, kid: 'test', alg: 'EdDSA', use: 'sig' }] }))
    const publicKey = this.#machineKey.publicKey.export({ format: 'jwk' })
    writeFileSync(this.#machinesFile, JSON.stringify([{ name: machineName, publicKey, roles: teamRoles }]))
  }

  /** The settings with which a service knows its people. */
  get settings(): Readonly<Record<string, string>> {
    return {
      TEAM_ISSUER: issuer,
      TEAM_DEPLOYMENT: this.deployment,
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
    const { deployment } = this
    let key: Promise<SessionKey> | undefined
    return {
      sign: async (call) => {
        key ??= newSessionKey()
        const session = await key
        const login = { idToken: this.idToken(user, session, options), deployment, now }
        if (options.delegated !== true) return new PersonSigner({ ...login, key: session, tool }).sign(call)
        const delegate = await newSessionKey()
        const delegation = await this.delegation(session, delegate, now())
        return new DelegatedSigner({ ...login, key: delegate, delegation }).sign(call)
      },
    }
  }

  /** A machine with every role. */
  machine({ now = () => new Date() }: Pick<LoginOptions, 'now'> = {}): TeamSigner {
    const key = importSessionKey(this.#machineKey.privateKey.export({ format: 'jwk' }))
    const { deployment } = this
    return {
      sign: async (call) =>
        new MachineSigner({ name: machineName, privateKey: (await key).privateKey, deployment, now }).sign(call),
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

  /** What the session's key signs in a browser, so that another key may read for its person. */
  async delegation({ publicJwk, privateKey }: SessionKey, { thumbprint }: SessionKey, now = new Date()) {
    const iat = Math.floor(now.getTime() / 1_000)
    const header = { alg: 'EdDSA', typ: 'team-delegation+jwt', jwk: publicJwk }
    const text = jwsText(header, { aud: this.deployment, delegate: thumbprint, iat, exp: iat + 3_600 })
    const signature = await crypto.subtle.sign('Ed25519', privateKey, Buffer.from(text))
    return `${text}.${Buffer.from(signature).toString('base64url')}`
  }

  #signed(claims: Readonly<Record<string, unknown>>): string {
    const text = jwsText({ alg: 'EdDSA', kid: 'test' }, claims)
    return `${text}.${sign(null, Buffer.from(text), this.#key.privateKey).toString('base64url')}`
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true })
  }
}

const jwsText = (...parts: readonly object[]) =>
  parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
