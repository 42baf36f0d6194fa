import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { defined } from '@backoffice/contracts'
import { bePatient, patiently } from '@backoffice/process'

/** What a test hands over so that everything ends with it; `t` of tap is one. */
export interface Teardown {
  teardown(end: () => Promise<unknown> | unknown): unknown
}

/**
 * A folder that goes when `t` ends, after all that is registered later to end with it. For what servers write to: tap
 * removes its own `testdir` before that, so a server would still write there, and what fails then leaves it running.
 */
export function temporaryFolder(t: Teardown): string {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-'))
  // PostgreSQL may run as another account than the test.
  chmodSync(dir, 0o755)
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const { NODE_COMPILE_CACHE, PATIENCE } = process.env
const given = { DEVELOPMENT: 'true', ...defined({ PATIENCE }) }

// The clients of a test, the services in its process and the roles of its databases have it.
bePatient(given)

/** Whether anything may take sixteen times as long as usual. Proofs that draw their cases then draw fewer. */
export const isSlow = patiently(1) > 8

/** Of services whose limits a test waits for: with all the patience of a slow machine that would take minutes. */
export const shortPatience = { DEVELOPMENT: 'true', PATIENCE: String(Math.min(patiently(1), 4)) }

/** Of this process's environment: the folder of compiled modules, where there is one, and the patience. */
export const inherited: Readonly<Record<string, string>> = { ...given, ...defined({ NODE_COMPILE_CACHE }) }

/** Debian keeps servers where ordinary users do not look. */
export const toolPath = `${process.env.PATH}:/usr/sbin:/sbin`

function isInstalled(command: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore', env: { ...process.env, PATH: toolPath } })
    return true
  } catch {
    return false
  }
}

/**
 * What a machine may lack: a test that needs it is skipped and named. With REQUIRE_TEST_TOOLS=true it runs and fails
 * instead.
 * @param lack what is missing, in words; false when nothing is
 */
export function unlessRequired(lack: string | false): string | false {
  return process.env.REQUIRE_TEST_TOOLS === 'true' ? false : lack
}

/** Why a test of a program is skipped, or false. */
export function skipWithout(command: string, debianPackage: string): string | false {
  return unlessRequired(isInstalled(command) ? false : `${command} is missing (Debian: ${debianPackage})`)
}

const pauseFirstMs = 10
const pauseMaxMs = 200
/** After so long it says what it waits for, and again each time that it has waited twice as long. */
const saidFirstAfterMs = 10_000

/**
 * Runs `probe` until it returns without throwing, and returns its result. Use it for what happens soon, instead of a
 * sleep of guessed length. A probe that returns `false` has not succeeded. It has no limit but that of its file, since a
 * number of seconds would say more about the machine than about the code. What is awaited stands on standard error.
 */
export async function eventually<T>(probe: () => T | false | Promise<T | false>): Promise<Exclude<T, false>> {
  const waiting = new Waiting(probe)
  for (let pauseMs = pauseFirstMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    let fault: unknown = 'false'
    try {
      const result = await probe()
      if (result !== false) return result as Exclude<T, false>
    } catch (error) {
      fault = error
    }
    waiting.say(fault)
    await delay(pauseMs)
  }
}

class Waiting {
  readonly #begunAt = performance.now()
  readonly #probe: { toString(): string }
  readonly #calledFrom = new Error().stack?.split('\n').slice(3, 6).join('\n') ?? ''
  #nextAfterMs = saidFirstAfterMs

  constructor(probe: { toString(): string }) {
    this.#probe = probe
  }

  say(fault: unknown): void {
    const waitedMs = performance.now() - this.#begunAt
    if (waitedMs < this.#nextAfterMs) return
    this.#nextAfterMs = waitedMs * 2
    const said = fault instanceof Error ? fault.message : String(fault)
    process.stderr.write(
      `still waiting after ${(waitedMs / 1_000).toFixed(0)} s for ${this.#probe}\n${this.#calledFrom}\n  last: ${said}\n`,
    )
  }
}

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
