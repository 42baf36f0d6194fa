import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Results, readResults } from './results.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** A file ends by itself when its time is over. This is for one that cannot, because it runs in circles. */
const hangingMs = 900_000

export interface TestFile {
  /** Of the workspace. */
  readonly workspace: string
  /** Of the workspace. */
  readonly directory: string
  /** In the workspace. */
  readonly path: string
}

export interface FinishedFile extends TestFile {
  readonly ok: boolean
  readonly seconds: number
  readonly results: Results
  readonly tap: string
  /** What it wrote to standard error. */
  readonly errors: string
}

/**
 * Runs one test file in a process of its own. It is plain Node that runs it: the loaders of tap's command line, which are
 * for coverage and for mocks, would cost the file and each process that it starts most of a second.
 * @param stopping ends the file early
 */
export async function runTestFile(
  file: TestFile,
  environment: Readonly<Record<string, string | undefined>>,
  stopping: AbortSignal,
): Promise<FinishedFile> {
  const startedAt = performance.now()
  const programs = [join(file.directory, 'node_modules/.bin'), join(root, 'node_modules/.bin'), process.env.PATH]
  const child = spawn(process.execPath, [file.path], {
    cwd: file.directory,
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

  const text = Buffer.concat(tap).toString()
  const results = readResults({ path: file.path, tap: text, fault })
  return {
    ...file,
    ok: results.failed.length === 0,
    seconds: (performance.now() - startedAt) / 1000,
    results,
    tap: text,
    errors: `${Buffer.concat(errors).toString()}${fault === undefined ? '' : `ended with ${fault}\n`}`,
  }
}
