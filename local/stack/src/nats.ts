import { execFile } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type BrokerUser, brokerUsers, permissionsVariable } from '@backoffice/contracts'
import { Child } from './child.ts'
import { onPort } from './ports.ts'

const run = promisify(execFile)
/** The permissions of each program, in every environment. */
const folder = fileURLToPath(new URL('../../../deploy/nats', import.meta.url))
const permissionsFile = join(folder, 'permissions.conf')
const stopTimeoutMs = 10_000

export interface NatsOptions {
  /** Holds the configuration, the JetStream store and the log. */
  readonly dir: string
  /** Any free one when left out. */
  readonly port?: number
  readonly passwords: Readonly<Record<BrokerUser, string>>
  /** Encrypts the store, as deploy/nats does for the cluster. */
  readonly storeKey?: string
  /** Ends a start that is under way. */
  readonly signal?: AbortSignal
}

export interface RunningNats {
  readonly url: string
  readonly child: Child
}

/** Starts nats-server with JetStream, one user per program and the permissions that every environment shares. */
export function startNats(options: NatsOptions): Promise<RunningNats> {
  return onPort(options.port, (port) => startOn(port, options))
}

async function startOn(port: number, options: NatsOptions): Promise<RunningNats> {
  const binary = await natsServerBinary()
  mkdirSync(options.dir, { recursive: true })
  const configuration = join(options.dir, 'nats.conf')
  const version = await natsServerVersion(binary)
  writeFileSync(configuration, renderConfiguration(options, { port, version }), { mode: 0o600 })
  const program = {
    name: 'nats-server',
    command: binary,
    args: ['--config', configuration],
    env: process.env,
    logFile: join(options.dir, 'nats.log'),
    stopSignal: 'SIGTERM',
    stopTimeoutMs,
    signal: options.signal,
  } as const
  return { url: `nats://127.0.0.1:${port}`, child: await Child.startReady(program, (over) => greets(port, over)) }
}

/** @param version what `nats-server --version` prints */
export function renderConfiguration(
  options: NatsOptions,
  { port, version }: { readonly port: number; readonly version: string },
): string {
  // Includes are relative to the including file; nats-server does not take absolute paths here.
  const shared = relative(options.dir, permissionsFile)
  return [
    `listen: "127.0.0.1:${port}"`,
    // As in deploy/nats: a process that hangs gets calls until it is missed.
    'ping_interval: "5s"',
    'ping_max: 2',
    'jetstream {',
    `  store_dir: "${join(options.dir, 'jetstream')}"`,
    ...(options.storeKey === undefined ? [] : ['  cipher: "aes"', `  key: "${options.storeKey}"`]),
    // As in deploy/nats: without it the last two minutes of acknowledged messages can be lost with the machine.
    ...(knowsSyncInterval(version) ? ['  sync_interval: always'] : []),
    '}',
    'authorization {',
    `  include "${shared}"`,
    '  users = [',
    ...brokerUsers.map(
      (name) =>
        `    { user: ${name}, password: "${options.passwords[name]}", permissions: $${permissionsVariable(name)} }`,
    ),
    '  ]',
    '}',
    '',
  ].join('\n')
}

/** What `--version` prints. It is asked once: processes that this one starts inherit the answer. */
export async function natsServerVersion(binary: string): Promise<string> {
  const { NATS_SERVER_VERSION: known = '' } = process.env
  if (known.startsWith(`${binary} `)) return known.slice(binary.length)
  const { stdout } = await run(binary, ['--version'])
  process.env.NATS_SERVER_VERSION = `${binary} ${stdout.trim()}`
  return stdout
}

/** A server before 2.10 does not start with a setting that it does not know. */
function knowsSyncInterval(version: string): boolean {
  const [, major, minor] = /v(\d+)\.(\d+)\./.exec(version) ?? []
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 10)
}

/** The server sends its INFO line as soon as it takes connections. */
function greets(port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', signal })
    const done = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('error', () => done(false))
    socket.once('close', () => done(false))
    socket.once('data', (data) => done(data.toString().startsWith('INFO ')))
  })
}

/** The version that the manifests run, which npm start, the tests and the benchmark take too. */
const natsServerNamed = /^ +image: nats:([\d.]+)-/m.exec(
  readFileSync(fileURLToPath(new URL('../../../deploy/k8s/base/nats.yaml', import.meta.url)), 'utf8'),
)?.[1] as string
/** Of this version alone: when another one is named, it is fetched anew. */
const cacheFolder = fileURLToPath(new URL(`../../../.cache/nats-server/${natsServerNamed}/`, import.meta.url))

interface Search {
  readonly onDownload?: () => void
  /** Where a program that was fetched is kept. */
  readonly cache?: string
}

/**
 * The path of nats-server: on PATH, if that is the named version or a later one, or in our cache, or fetched into it.
 * NATS_SERVER names another program that stands in for it.
 */
export async function natsServerBinary({ onDownload, cache = cacheFolder }: Search = {}): Promise<string> {
  const { NATS_SERVER: chosen } = process.env
  if (chosen !== undefined) {
    const path = chosen.includes('/') ? chosen : onPath(chosen)
    if (path === undefined) throw new Error(`NATS_SERVER names ${chosen}, which is not on PATH`)
    return path
  }
  const installed = onPath('nats-server')
  if (installed !== undefined && !isOlder(await natsServerVersion(installed))) return installed
  const cached = join(cache, 'nats-server')
  if (!existsSync(cached)) {
    onDownload?.()
    await fillCache(cached, installed)
  }
  return cached
}

/** What a person must know of a server that is older than the one that is shipped. */
export async function natsServerWarning(binary: string): Promise<string | undefined> {
  const version = await natsServerVersion(binary)
  if (!isOlder(version)) return undefined
  return (
    `${version.trim()} runs here in place of ${natsServerNamed}, which is shipped. Install that or a newer one, ` +
    `or remove ${relative(process.cwd(), dirname(cacheFolder))} to look for it again.`
  )
}

function isOlder(version: string): boolean {
  const named = natsServerNamed.split('.').map(Number)
  const found = (/v(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number)
  const differs = named.findIndex((number, index) => number !== found[index])
  return differs !== -1 && !(Number(found[differs]) > Number(named[differs]))
}

function onPath(program: string): string | undefined {
  // Debian keeps it in /usr/sbin, which is not on everybody's PATH.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, program)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Whatever can be had is kept, so that the next start needs no network. */
async function fillCache(cached: string, installed: string | undefined): Promise<void> {
  mkdirSync(dirname(cached), { recursive: true })
  const work = mkdtempSync(`${dirname(cached)}/download-`)
  const draft = join(work, 'nats-server')
  try {
    await fromLaterSuite(work)
      .catch((error) => (installed === undefined ? fromOwnSuites(work) : Promise.reject(error)))
      .then((program) => renameSync(program, draft))
      .catch((error) => {
        if (installed === undefined) throw error
        symlinkSync(installed, draft)
      })
    // Moved into place whole: two stacks that start at once cannot see half a program.
    renameSync(draft, cached)
  } catch (error) {
    const reason = (error as { stderr?: string }).stderr?.trim() || (error as Error).message
    throw new Error(`nats-server could not be downloaded: ${reason}\n${howToGetIt}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Debian's stable releases have an older one, so it comes from the next release, on the mirror that this machine uses. */
async function fromLaterSuite(work: string): Promise<string> {
  const targets = ['indextargets', '--no-release-info', '--format', '$(REPO_URI)', 'Created-By: Packages']
  const { stdout } = await run('apt-get', targets)
  const mirror = stdout.split('\n').find((address) => /\/debian\/?$/.test(address))
  if (mirror === undefined) throw new Error('no mirror of Debian is among the sources of apt')
  const sources = join(work, 'sources.list')
  writeFileSync(sources, `deb [signed-by=${debianKeys}] ${mirror} testing main\n`)
  return fromArchive(work, { 'Dir::Etc::sourcelist': sources, 'Dir::Etc::sourceparts': '/dev/null' })
}

const debianKeys = '/usr/share/keyrings/debian-archive-keyring.gpg'

async function fromOwnSuites(work: string): Promise<string> {
  if (onPath('apt-get') !== undefined && onPath('dpkg-deb') !== undefined) return fromArchive(work, {})
  throw new Error('it is not on PATH, and this is not Debian or Ubuntu')
}

/** @returns the program, unpacked in `work` */
async function fromArchive(work: string, sources: Readonly<Record<string, string>>): Promise<string> {
  // Everything apt writes goes to our own folder, so that neither root nor a change to the system is needed.
  const folder = mkdtempSync(join(work, 'apt-'))
  for (const part of ['lists/partial', 'archives/partial']) mkdirSync(join(folder, part), { recursive: true })
  symlinkSync('/var/lib/dpkg/status', join(folder, 'status'))
  const options = {
    'Dir::State': folder,
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': folder,
    'APT::Sandbox::User': '',
    'APT::Update::Error-Mode': 'any',
    'Acquire::Languages': 'none',
    ...sources,
  }
  const flags = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  // How long it takes is the network's to say: apt gives up when nothing comes any more.
  const apt = (...args: string[]) => run('apt-get', [...flags, ...args], { cwd: folder })
  // One source of packages may be out of order and the package be in another.
  const update = await apt('update').catch((error: Error) => error)
  await apt('download', 'nats-server').catch((error: Error) => {
    throw update instanceof Error ? update : error
  })
  const file = readdirSync(folder).find((name) => name.endsWith('.deb'))
  if (file === undefined) throw new Error('apt-get downloaded nothing')
  await run('dpkg-deb', ['--extract', join(folder, file), join(folder, 'root')])
  return join(folder, 'root/usr/sbin/nats-server')
}

const howToGetIt =
  'Install it (Debian and Ubuntu: apt-get install nats-server; macOS: brew install nats-server; ' +
  'others: https://nats.io/download) or set NATS_URL to a server with JetStream.'
