import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BrokerUser, brokerUsers, type ServiceName, serviceNames } from '@backoffice/contracts'
import { writeFileAtomically } from './atomic-file.ts'
import { sharedRolePasswords } from './database.ts'
import { type TeamUser, teamUsers } from './team-users.ts'

export interface StackSecrets {
  readonly postgres: string
  readonly databaseRoles: Readonly<Record<ServiceName, string>>
  readonly nats: Readonly<Record<BrokerUser, string>>
  readonly team: Readonly<Record<TeamUser, string>>
  /** `id:base64key`, for the services that keep secrets of operators or personal data. */
  readonly masterKeys: string
}

/** The secrets of one stack. They are made the first time and then read, because the stack's data depend on them. */
export function stackSecrets(dir: string): StackSecrets {
  const file = join(dir, 'secrets.json')
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StackSecrets) : undefined
  // A stack of an earlier release has no password for a user that is new.
  if (kept !== undefined && brokerUsers.every((user) => user in kept.nats)) return kept
  const secrets: StackSecrets = {
    postgres: password(),
    databaseRoles: forEach(serviceNames, password),
    team: forEach(teamUsers, password),
    masterKeys: `dev:${randomBytes(32).toString('base64')}`,
    ...kept,
    nats: { ...forEach(brokerUsers, password), ...kept?.nats },
  }
  writeFileAtomically(file, `${JSON.stringify(secrets, null, 2)}\n`)
  return secrets
}

// A letter first and no punctuation: safe in a URL, in a shell and in nats-server's configuration.
const password = () => `p${randomBytes(18).toString('hex')}`

/**
 * The same secrets, but with the passwords of backends that were given. Users of a given NATS server have the passwords
 * of that server.
 */
export function withGivenBackends(secrets: StackSecrets, environment: NodeJS.ProcessEnv): StackSecrets {
  const { POSTGRES_URL, NATS_URL } = environment
  const given = (own: Readonly<Record<string, string>>) => (user: string) =>
    environment[`NATS_PASSWORD_${user.toUpperCase()}`] ?? own[user] ?? ''
  return {
    ...secrets,
    ...(POSTGRES_URL === undefined ? {} : { databaseRoles: sharedRolePasswords(POSTGRES_URL) }),
    ...(NATS_URL === undefined
      ? {}
      : { nats: forEach(brokerUsers, given(secrets.nats)), team: forEach(teamUsers, given(secrets.team)) }),
  }
}

function forEach<K extends string>(names: readonly K[], value: (name: K) => string): Record<K, string> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<K, string>
}
