import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Teardown, TestBed } from '@backoffice/test-kit'

export interface ProbeProcess {
  readonly child: ChildProcess
  readonly printed: () => string
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

/**
 * Starts the payments of the probe services as a process of its own.
 * @param options of Node
 */
export function startProbe(
  t: Teardown,
  bed: Pick<TestBed<unknown>, 'environment'>,
  environment: Readonly<Record<string, string>> = {},
  options: readonly string[] = [],
): ProbeProcess {
  const program = fileURLToPath(new URL('./probe-process.ts', import.meta.url))
  const child = spawn(process.execPath, [...options, program], {
    env: { PATH: process.env.PATH, ...bed.environment('payments'), LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  return { child, printed: () => text, ended: once(child, 'close').then(([code, signal]) => code ?? signal) }
}
