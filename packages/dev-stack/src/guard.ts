import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

let guard: ChildProcess | undefined

/**
 * One small shell process outlives this one and ends what it left running. It needs no cooperation from the servers
 * (PostgreSQL and nats-server cannot watch a parent) and works when this process is killed with SIGKILL.
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

/** Has the process group `pid` ended with `signal` should this process vanish. */
export function guardProcess(pid: number, signal: 'TERM' | 'INT'): void {
  writeToGuard(`add ${pid} ${signal}`)
}

/** To be called once the process is gone, so that a later process with its number is safe. */
export function releaseProcess(pid: number): void {
  writeToGuard(`remove ${pid}`)
}
