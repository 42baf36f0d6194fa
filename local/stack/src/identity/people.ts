import { type TeamRole, teamRoles } from '@backoffice/contracts'
import type { JWK } from 'jose'

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
