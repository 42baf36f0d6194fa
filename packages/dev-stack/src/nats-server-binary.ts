import { execFile } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const downloadTimeoutMs = 120_000
const cacheFolder = fileURLToPath(new URL('../../../.cache/nats-server/', import.meta.url))
const cachedBinary = join(cacheFolder, 'usr/sbin/nats-server')

/**
 * The path of nats-server: on PATH, or in our cache, or fetched from the Debian archive into that cache. NATS_SERVER names
 * another program that stands in for it, such as a later version.
 */
export async function natsServerBinary(onDownload: () => void = () => {}): Promise<string> {
  const { NATS_SERVER: chosen } = process.env
  if (chosen !== undefined) {
    const path = chosen.includes('/') ? chosen : onPath(chosen)
    if (path === undefined) throw new Error(`NATS_SERVER names ${chosen}, which is not on PATH`)
    return path
  }
  const installed = onPath('nats-server')
  if (installed !== undefined) return installed
  if (existsSync(cachedBinary)) return cachedBinary
  onDownload()
  await downloadDebianPackage()
  return cachedBinary
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

async function downloadDebianPackage(): Promise<void> {
  if (onPath('apt-get') === undefined || onPath('dpkg-deb') === undefined) {
    throw new Error(`nats-server was not found on PATH, and this is not Debian or Ubuntu.\n${howToGetIt}`)
  }
  mkdirSync(dirname(dirname(cacheFolder)), { recursive: true })
  mkdirSync(cacheFolder, { recursive: true })
  const work = mkdtempSync(join(cacheFolder, 'download-'))
  try {
    // Everything apt writes goes to our own folder, so that neither root nor a change to the system is needed.
    const lists = join(work, 'lists')
    for (const folder of [join(lists, 'partial'), join(work, 'archives/partial')])
      mkdirSync(folder, { recursive: true })
    symlinkSync('/var/lib/dpkg/status', join(work, 'status'))
    const apt = (...args: string[]) =>
      run(
        'apt-get',
        [
          '-o',
          `Dir::State=${work}`,
          '-o',
          `Dir::State::status=${join(work, 'status')}`,
          '-o',
          `Dir::Cache=${work}`,
          '-o',
          'APT::Sandbox::User=',
          '-o',
          'APT::Update::Error-Mode=any',
          ...args,
        ],
        {
          cwd: work,
          timeout: downloadTimeoutMs,
        },
      )
    // One source of packages may be out of order and the package be in another.
    const update = await apt('update').catch((error: Error) => error)
    await apt('download', 'nats-server').catch((error: Error) => {
      throw update instanceof Error ? update : error
    })
    const file = readdirSync(work).find((name) => name.endsWith('.deb'))
    if (file === undefined) throw new Error('apt-get downloaded nothing')
    await run('dpkg-deb', ['--extract', join(work, file), join(work, 'root')])
    // Moved into place whole: two stacks that start at once cannot see half a program.
    rmSync(join(cacheFolder, 'usr'), { recursive: true, force: true })
    renameSync(join(work, 'root/usr'), join(cacheFolder, 'usr'))
  } catch (error) {
    const reason = (error as { stderr?: string }).stderr?.trim() || (error as Error).message
    throw new Error(`nats-server could not be downloaded: ${reason}\n${howToGetIt}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const howToGetIt =
  'Install it (Debian and Ubuntu: apt-get install nats-server; macOS: brew install nats-server; ' +
  'others: https://nats.io/download) or set NATS_URL to a server with JetStream.'
