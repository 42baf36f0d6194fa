import { type ChildProcess, spawn } from 'node:child_process'
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
