import { type DatabaseRole, roleName, type ServiceName, serviceNames } from '@backoffice/contracts'
import { limitsMs } from '@backoffice/process'
import { readerOf } from '@backoffice/service-runtime'
import { Client, escapeIdentifier as quoteIdentifier, escapeLiteral as quoteLiteral } from 'pg'

/**
 * An arbitrary number. Everyone who provisions on a cluster holds this lock, because two CREATE ROLE or two GRANT on one
 * database at once can fail.
 */
const provisionLock = 7_411_904
/** Whoever holds it for longer holds up every migration. The Job says so, and tries again. */
const lockWaitMsDefault = 60_000

/**
 * Functions that write large objects. Anybody may call them, and no right to a table bounds what they store, nor does a
 * purge find it.
 */
const largeObjectWriters = [
  ...['lo_creat(integer)', 'lo_create(oid)', 'lo_from_bytea(oid, bytea)', 'lo_open(oid, integer)', 'lo_unlink(oid)'],
  ...[
    'lo_put(oid, bigint, bytea)',
    'lowrite(integer, bytea)',
    'lo_truncate(integer, integer)',
    'lo_truncate64(integer, bigint)',
  ],
]

type Passwords = Readonly<Partial<Record<DatabaseRole, string>>>

/**
 * Creates what the services' migrations and logins need, in the database of `adminUrl`: a login role and a schema per
 * service, beside it one that only reads, and a role for the public games. What one sees of another's schema it gets by
 * migrations. None of them may use the server's other databases, temporary tables or large objects. Safe to repeat; passwords
 * and the settings of the roles' sessions are set anew each time.
 * @param passwords by role; only those given are provisioned
 * @param local the services whose schemas this database has. All roles are made, because migrations grant them rights
 * @param lockWaitMs how long to wait for others who provision on the cluster
 * @throws a DatabaseError with code 55P03 when somebody held the lock for longer
 */
export async function provisionDatabase({
  adminUrl,
  passwords,
  local = serviceNames,
  lockWaitMs = lockWaitMsDefault,
}: {
  readonly adminUrl: string
  readonly passwords: Passwords
  readonly local?: readonly ServiceName[]
  readonly lockWaitMs?: number
}): Promise<void> {
  // Roles belong to the cluster, advisory locks to one database. So every caller takes the lock in the same database.
  const cluster = new URL(adminUrl)
  cluster.pathname = '/postgres'
  await connectOnce(cluster.href, async (client) => {
    await client.query(`set lock_timeout = ${lockWaitMs}`)
    await client.query('select pg_advisory_lock($1)', [provisionLock])
    for (const database of ['postgres', 'template1'])
      await client.query(`revoke connect, temporary on database ${database} from public`)
    await createRoles(client, passwords)
    await createSchemas(adminUrl, passwords, local)
  })
}

async function createSchemas(adminUrl: string, passwords: Passwords, local: readonly ServiceName[]): Promise<void> {
  await connectOnce(adminUrl, async (client) => {
    const database = quoteIdentifier(
      (await client.query<{ name: string }>('select current_database() as name')).rows[0]?.name ?? '',
    )
    const statements = [
      `revoke create on schema public from public`,
      `revoke connect, temporary on database ${database} from public`,
      `revoke execute on function ${largeObjectWriters.join(', ')} from public`,
    ]
    if (passwords.games !== undefined && local.includes('players'))
      statements.push(`grant connect on database ${database} to ${quoteIdentifier(roleName('games'))}`)
    for (const service of local) {
      if (passwords[service] === undefined) continue
      const role = quoteIdentifier(roleName(service))
      const schema = quoteIdentifier(service)
      statements.push(
        `create schema if not exists ${schema}`,
        `revoke all on schema ${schema} from public`,
        `grant connect on database ${database} to ${role}`,
        `grant usage on schema ${schema} to ${role}`,
        `alter default privileges in schema ${schema} grant select, insert, update, delete on tables to ${role}`,
        `alter default privileges in schema ${schema} grant usage, select on sequences to ${role}`,
      )
    }
    await client.query(statements.join(';\n'))
  })
}

async function createRoles(client: Client, passwords: Passwords): Promise<void> {
  for (const [role, password] of Object.entries(passwords) as [DatabaseRole, string][]) {
    const name = roleName(role)
    await createLogin(client, name, { password, settings: settingsOf(role) })
    if (!isService(role)) continue
    const reader = readerOf(name)
    await createLogin(client, reader, { password, settings: readerSettings(role) })
    await client.query(`grant ${quoteIdentifier(name)} to ${quoteIdentifier(reader)}`)
  }
}

const isService = (role: DatabaseRole): role is ServiceName => (serviceNames as readonly string[]).includes(role)

async function createLogin(
  client: Client,
  name: string,
  { password, settings }: { readonly password: string; readonly settings: Readonly<Record<string, string>> },
): Promise<void> {
  const known = await client.query('select from pg_roles where rolname = $1', [name])
  const verb = known.rowCount === 0 ? 'create' : 'alter'
  const login = `${verb} role ${quoteIdentifier(name)} login password ${quoteLiteral(password)}`
  await client.query([login, ...settingStatements(name, settings)].join(';\n'))
}

type Settings = Readonly<Record<string, string>>

/**
 * Settings that PostgreSQL gives to each session of a role. A connection could ask for them when it begins, but a pooler in
 * transaction mode refuses or forgets what a connection asks for.
 */
const ofService = (schema: ServiceName): Settings => ({
  search_path: schema,
  statement_timeout: String(limitsMs.statement),
  idle_in_transaction_session_timeout: String(limitsMs.idleTransaction),
  timezone: 'UTC',
  // Whatever the server's default is. What need not wait for the disk says so in its transaction.
  synchronous_commit: 'on',
})

/** Of a service's role for reading: PostgreSQL refuses what such a session would write. */
const readerSettings = (service: ServiceName): Settings => ({
  ...ofService(service),
  default_transaction_read_only: 'on',
})

export function settingsOf(role: DatabaseRole): Settings {
  return ofService(role === 'games' ? 'players' : role)
}

const settingStatements = (role: string, settings: Settings): string[] =>
  Object.entries(settings).map(
    ([name, value]) => `alter role ${quoteIdentifier(role)} set ${name} = ${quoteLiteral(value)}`,
  )

/** Runs `run` over one connection of the administrator, and closes it whatever happens. */
export async function connectOnce<T>(url: string, run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}
