import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { type TeamRole, teamRoles } from '@backoffice/contracts'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { claimPort, freePort } from '../ports.ts'
import { writeFileAtomically } from '../stack-file.ts'

/** Somebody of the team of a development stack. */
export interface Person {
  readonly id: string
  readonly name: string
  readonly roles: readonly TeamRole[]
}

/**
 * The people of a development stack: two with every role, because some decisions take two, and one for each role. Their
 * first letters are those of their roles.
 */
export const teamPeople = [
  { id: 'alice', name: 'Alice Almeida', roles: teamRoles },
  { id: 'bob', name: 'Bob Barros', roles: teamRoles },
  { id: 'carla', name: 'Carla Costa', roles: ['compliance'] },
  { id: 'felipe', name: 'Felipe Ferreira', roles: ['finance'] },
  { id: 'ines', name: 'Inês Ibarra', roles: ['integration'] },
  { id: 'sofia', name: 'Sofia Souza', roles: ['support'] },
  { id: 'andre', name: 'André Araújo', roles: ['auditor'] },
] as const satisfies readonly Person[]
export type TeamUser = (typeof teamPeople)[number]['id']

export const teamUsers: readonly TeamUser[] = teamPeople.map(({ id }) => id)

const groupOf = (role: TeamRole) => `back-office-${role}`

/** What the provider says about a person. */
export const claimsOf = ({ id, name, roles }: Person) => ({
  sub: id,
  name,
  preferred_username: id,
  email: `${id}@backoffice.example`,
  email_verified: true,
  groups: roles.map(groupOf),
})

/** What a login is called whose person has ticked that it is theirs. It proves nothing, and stands in for a second factor. */
export const confirmedAcr = 'confirmed'

/** The settings with which the services know these people. The audit trail names them as `--as` does. */
export const identityEnvironment = (issuer: string, consoleUrl: string) => ({
  TEAM_ISSUER: issuer,
  TEAM_DEPLOYMENT: consoleUrl,
  TEAM_NAME_CLAIM: 'preferred_username',
  TEAM_GROUP_ROLES: JSON.stringify(Object.fromEntries(teamRoles.map((role) => [groupOf(role), [role]]))),
})

/** The clients that people log in with. */
export const consoleClientId = 'backoffice-console'
export const commandLineClientId = 'backoffice-cli'

/** What the identity provider of a stack works with. The file is kept, so that sessions survive a restart of the stack. */
export interface IdentitySettings {
  readonly port: number
  readonly issuer: string
  /** Where the provider sends people back to, and with which secret the console names itself. */
  readonly console: { readonly port: number; readonly url: string; readonly clientSecret: string }
  readonly signingKey: JWK
  readonly cookieKey: string
}

/**
 * The settings in `file`, with the same keys as before. The addresses are the same too unless somebody else has the
 * ports now.
 */
export async function identitySettings(file: string, clientSecret: string): Promise<IdentitySettings> {
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as IdentitySettings) : undefined
  const port = await sameOrFree(kept?.port)
  const consolePort = await sameOrFree(kept?.console.port)
  const settings: IdentitySettings = {
    port,
    issuer: `http://127.0.0.1:${port}`,
    console: { port: consolePort, url: `http://127.0.0.1:${consolePort}`, clientSecret },
    signingKey: kept?.signingKey ?? (await newSigningKey()),
    cookieKey: kept?.cookieKey ?? randomBytes(32).toString('base64url'),
  }
  writeFileAtomically(file, `${JSON.stringify(settings, null, 2)}\n`)
  return settings
}

const sameOrFree = async (port: number | undefined): Promise<number> =>
  port !== undefined && (await claimPort(port)) ? port : freePort()

async function newSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  return { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'stack' }
}
