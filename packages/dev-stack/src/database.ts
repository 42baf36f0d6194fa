import { createHash } from 'node:crypto'
import { type DatabaseRole, roleName, type ServiceName, serviceNames } from '@backoffice/contracts'
import pg from 'pg'

const databaseName = 'backoffice'

/**
 * Makes the database when it is missing; a URL that names another one than `postgres` chooses that one.
 * @returns the administrator's URL of the database
 */
export async function ensureDatabase(administratorUrl: string): Promise<string> {
  const given = new URL(administratorUrl).pathname.slice(1)
  const name = given === '' || given === 'postgres' ? databaseName : given
  if (name === given) return administratorUrl
  const client = new pg.Client({ connectionString: administratorUrl })
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
  return databaseUrl(administratorUrl, name)
}

/**
 * Passwords of the services' roles on a server that several stacks and tests share. Roles belong to the whole server, so
 * all of them must arrive at the same passwords, and only they: they follow from the administrator's own.
 */
export function sharedRolePasswords(administratorUrl: string): Record<ServiceName, string> {
  const { username, password, host } = new URL(administratorUrl)
  const derived = (service: ServiceName) =>
    createHash('sha256').update([service, username, password, host].join(' ')).digest('hex')
  return Object.fromEntries(serviceNames.map((name) => [name, derived(name)])) as Record<ServiceName, string>
}

type ServicePasswords = Readonly<Record<ServiceName, string>>
type RolePasswords = Readonly<Record<DatabaseRole, string>>

/** The games, which own no schema, have a password that follows from that of players. */
export const withOtherRoles = (passwords: ServicePasswords): RolePasswords => ({
  ...passwords,
  games: createHash('sha256').update(`games ${passwords.players}`).digest('hex'),
})

/** The URL with which one role reaches the same database. */
export function roleUrl(administratorUrl: string, role: DatabaseRole, password: string): string {
  const url = new URL(administratorUrl)
  url.username = roleName(role)
  url.password = password
  return url.href
}

export function databaseUrl(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
