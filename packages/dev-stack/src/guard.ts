import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

let guard: ChildProcess | undefined

/**
 * Sends a line to the guard: a small shell process that outlives this one and ends what it has left running. It needs
 * no cooperation from the servers (PostgreSQL and nats-server cannot watch a parent) and works when this process is
 * killed with SIGKILL.
 */
function writeToGuard(line: string): void {
  if (guard === undefined || guard.exitCode !== null) {
    guard = spawn('/bin/sh', [fileURLToPath(new URL('./guard.sh', import.meta.url))], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    guard.on('error', () => {})
    guard.stdin?.on('error', () => {})
    guard.unref()
    ;(guard.stdin as unknown as { unref(): void }).unref()
  }
  guard.stdin?.write(`${line}\n`)
}

/** Makes the guard end the process group `pid` with `signal` if this process disappears. */
export function guardProcess(pid: number, signal: 'TERM' | 'INT'): void {
  writeToGuard(`add ${pid} ${signal}`)
}

/** Must be called once the process has ended, so that a later process with the same number is safe. */
export function releaseProcess(pid: number): void {
  writeToGuard(`remove ${pid}`)
}

const checkMs = 1_000
const ancestorsMax = 4

/**
 * Calls `gone` once the npm that started us has ended without telling us, which is what happens when it is killed. Does
 * nothing for a stack that was started without npm: its parent may well end before it, as with nohup.
 */
export function watchStarter(gone: () => void): void {
  const npm = startingNpm()
  if (npm === undefined) return
  const timer = setInterval(() => {
    if (isRunning(npm)) return
    clearInterval(timer)
    gone()
  }, checkMs)
  timer.unref()
}

/** npm starts a shell, which starts us: npm is an ancestor, but not always the parent. */
function startingNpm(): number | undefined {
  if (process.env.npm_lifecycle_event === undefined) return undefined
  let pid = process.ppid
  for (let generation = 0; generation < ancestorsMax && pid > 1; generation += 1) {
    const [parent, ...command] = describe(pid)
    if (command.some((word) => /(^|\/)npm(-cli\.js)?$/.test(word))) return pid
    pid = Number(parent)
  }
  return undefined
}

/** @returns the parent's number and the words of the command, or nothing where `ps` cannot tell. */
function describe(pid: number): string[] {
  try {
    const line = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' })
    return line.trim().split(/\s+/)
  } catch {
    return []
  }
}

/** Whether there is a process of that number. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
