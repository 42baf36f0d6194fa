import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually } from './eventually.ts'
import type { Teardown } from './test-bed.ts'

export interface StartedProcess {
  readonly child: ChildProcess
  /** All that it wrote so far. */
  printed(): string
  /** The exit status, once it has ended and all that it wrote is read; null when a signal ended it. */
  readonly ended: Promise<number | null>
  /** @throws with what it wrote, when it ends before it is ready */
  until(ready: () => Promise<unknown> | unknown): Promise<void>
}

/**
 * Starts a program. With `t` it ends at the latest.
 * @param options `endsBy` is the signal that it then gets
 */
export function startProcess(
  t: Teardown,
  [command = '', ...args]: readonly string[],
  { endsBy = 'SIGKILL', ...options }: Pick<SpawnOptions, 'cwd' | 'env'> & { readonly endsBy?: NodeJS.Signals } = {},
): StartedProcess {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  t.teardown(async () => {
    child.kill(endsBy)
    await ended
  })
  return {
    child,
    printed: () => text,
    ended,
    async until(ready) {
      const isOver = () => child.exitCode !== null || child.signalCode !== null
      await eventually(async () => isOver() || (await ready()))
      if (isOver()) throw new Error(`${command} ended:\n${text}`)
    },
  }
}
