import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root, type TestFile } from './files.ts'
import type { Group } from './order.ts'
import { type Part, partsOf, type Results, readResults } from './results.ts'

const severalFiles = fileURLToPath(new URL('./several-files.ts', import.meta.url))
/** A file ends by itself when its time is over. This is for one that cannot, because it runs in circles. */
const hangingMs = 900_000

export interface FinishedFile extends TestFile {
  readonly ok: boolean
  readonly seconds: number
  readonly results: Results
  readonly tap: string
  /** What it wrote to standard error. */
  readonly errors: string
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Runs test files of one workspace: a single one, or several that may share a process. It is plain Node that runs them:
 * the loaders of tap's command line, which are for coverage and for mocks, would cost each process, and each that it
 * starts, most of a second.
 * @param stopping ends them early
 * @returns those that have run. When the process dies, the file that it died in is the last of them.
 */
export async function runTestFiles(
  files: Group,
  environment: Environment,
  stopping: AbortSignal,
): Promise<readonly FinishedFile[]> {
  const [first] = files
  const paths = files.map(({ path }) => path)
  if (files.length === 1) return [finished(first, await runNode(first.directory, paths, environment, stopping))]

  const ended = await runNode(first.directory, [severalFiles, ...paths], environment, stopping)
  const found = partsOf(ended.tap)
  const next = files.find(({ path }) => !found.some((part) => part.path === path))
  // It ended between two files: in the second, before that could say so.
  const isCutShort = next !== undefined && found.every(({ isOver }) => isOver)
  const parts = isCutShort ? [...found, { path: next.path, tap: '', isOver: false, ok: false, seconds: 0 }] : found
  // A process that dies although all is well with its files died of what the last one left behind.
  const lastFault = parts.every(({ ok }) => ok) ? ended.fault : undefined
  return parts.map((part, index) => {
    const file = files.find(({ path }) => path === part.path) ?? first
    const fault = (index === parts.length - 1 ? lastFault : undefined) ?? faultOf(part, ended)
    return finished(file, { ...part, fault, errors: fault === undefined ? '' : ended.errors })
  })
}

/**
 * Runs files until each has run. A process that dies takes those along that were still to come: they get another.
 * @param runFiles returns those that have run
 */
export async function runToTheEnd(
  files: readonly TestFile[],
  runFiles: (files: Group) => Promise<readonly FinishedFile[]>,
  stopping: AbortSignal,
): Promise<readonly FinishedFile[]> {
  const finished: FinishedFile[] = []
  while (!stopping.aborted) {
    const [next, ...others] = files.filter(({ path }) => !finished.some((file) => file.path === path))
    if (next === undefined) break
    finished.push(...(await runFiles([next, ...others])))
  }
  return finished
}

const faultOf = ({ ok, isOver }: Part, { fault = 'an early end' }: Ended): string | undefined =>
  ok ? undefined : isOver ? 'a failed test' : fault

function finished(file: TestFile, { tap, errors, fault, seconds }: Ended): FinishedFile {
  const results = readResults({ path: file.path, tap, fault })
  return {
    ...file,
    ok: results.failed.length === 0,
    seconds,
    results,
    tap,
    errors: `${errors}${fault === undefined ? '' : `ended with ${fault}\n`}`,
  }
}

/** What a process left behind. */
interface Ended {
  readonly tap: string
  readonly errors: string
  /** How it ended when it did not end well. */
  readonly fault: string | undefined
  readonly seconds: number
}

async function runNode(
  directory: string,
  args: readonly string[],
  environment: Environment,
  stopping: AbortSignal,
): Promise<Ended> {
  const startedAt = performance.now()
  const programs = [join(directory, 'node_modules/.bin'), join(root, 'node_modules/.bin'), process.env.PATH]
  const child = spawn(process.execPath, args, {
    cwd: directory,
    env: { ...environment, PATH: programs.join(delimiter), TAP: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that processes of its that are still there after its end can be found.
    detached: true,
  })
  const endGroup = (signal: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), signal)
    } catch {
      // Nobody is left.
    }
  }
  const stop = () => endGroup('SIGTERM')
  stopping.addEventListener('abort', stop)
  const hanging = setTimeout(() => endGroup('SIGKILL'), hangingMs)

  const tap: Buffer[] = []
  const errors: Buffer[] = []
  child.stdout.on('data', (chunk) => tap.push(chunk))
  child.stderr.on('data', (chunk) => errors.push(chunk))
  const fault = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    // What it has left running may hold its output open, so that 'close' would not come.
    child.once('exit', (status) => {
      if (status !== 0) endGroup('SIGKILL')
    })
    child.once('close', (status, signal) => resolve(status === 0 ? undefined : (signal ?? `exit status ${status}`)))
  })
  clearTimeout(hanging)
  stopping.removeEventListener('abort', stop)

  return {
    tap: Buffer.concat(tap).toString(),
    errors: Buffer.concat(errors).toString(),
    fault,
    seconds: (performance.now() - startedAt) / 1000,
  }
}
