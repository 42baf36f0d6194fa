import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readStack, stackFileIn } from './stack-file.ts'

/** All that a stack keeps in its folder; `--fresh` removes these and nothing else. */
const contents = ['postgres', 'nats', 'logs', 'secrets.json', 'identity.json', 'operators.json', 'stack.json']

const lockFileIn = (dir: string) => join(dir, 'supervisor.pid')

/**
 * Takes the folder for this process.
 * @throws when a stack is running in it already.
 */
export function claimFolder(dir: string, fresh: boolean): void {
  const lock = lockFileIn(dir)
  if (existsSync(lock) && isRunningStack(Number(readFileSync(lock, 'utf8')))) {
    const where = existsSync(stackFileIn(dir)) ? ` at ${readStack(stackFileIn(dir)).baseUrl}` : ''
    throw new Error(`A stack is already running in ${dir}${where}. Stop it first, or start another with --dir.`)
  }
  if (fresh) for (const name of contents) rmSync(join(dir, name), { recursive: true, force: true })
  mkdirSync(join(dir, 'logs'), { recursive: true })
  writeFileSync(lock, String(process.pid), { mode: 0o600 })
}

export function releaseFolder(dir: string): void {
  rmSync(lockFileIn(dir), { force: true })
}

/** A number left by a crash may belong to another program by now. */
function isRunningStack(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const commandLine = `/proc/${pid}/cmdline`
  return !existsSync(commandLine) || readFileSync(commandLine, 'utf8').includes('dev-stack')
}
