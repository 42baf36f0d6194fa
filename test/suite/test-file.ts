import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Group, root, type TestFile } from './files.ts'
import { type Part, partsOf, type Results, readResults } from './results.ts'

const testProcess = fileURLToPath(new URL('./test-process.ts', import.meta.url))
/** A file ends by itself when its time is over. This is for one that cannot, because it runs in circles. */
const hangingTimes = 2

export interface FinishedFile extends TestFile {
  readonly ok: boolean
  readonly seconds: number
  readonly results: Results
  readonly tap: string
  /** What it wrote to standard error. */
  readonly errors: string
}

type Environment = Readonly<Record<string, string | undefined>>

export interface Running {
  readonly environment: Environment
  /** Of a file. */
  readonly timeoutSeconds: number
  /** Ends them early. */
  readonly stopping: AbortSignal
  /** Called with each file as soon as it is over. */
  readonly isOver?: (file: FinishedFile) => void
}

/**
 * Runs test files in one process, one or several that may share it. It is plain Node that runs them: the loaders
 * of tap's command line, which are for coverage and for mocks, would cost each process, and each that it starts, most of
 * a second.
 * @returns those that have run. When the process dies, the file that it died in is the last of them.
 */
export async function runTestFiles(files: Group, running: Running): Promise<readonly FinishedFile[]> {
  const [first] = files
  const all: FinishedFile[] = []
  const add = (file: FinishedFile) => {
    all.push(file)
    running.isOver?.(file)
  }
  const fileOf = (part: Part) => files.find(({ place }) => place === part.place) ?? first
  const named = JSON.stringify(files.map(({ directory, path, place }) => ({ directory, path, place })))
  const child = new NodeProcess([testProcess, named], { ...running, files: files.length })
  let errorsOfOthers = 0
  const addOver = (parts: readonly Part[], ended: Ended) => {
    for (const part of parts.slice(all.length)) {
      const errors = part.ok ? '' : ended.errors.slice(errorsOfOthers)
      errorsOfOthers = ended.errors.length
      add(finished(fileOf(part), { ...part, errors, fault: faultOf(part, ended) }))
    }
  }
  // The last one is not through before the process has ended well.
  child.onResult = (soFar) =>
    addOver(
      partsOf(soFar.tap)
        .filter(({ isOver }) => isOver)
        .slice(0, files.length - 1),
      soFar,
    )
  const ended = await child.ended

  const found = partsOf(ended.tap)
  const next = files.find(({ place }) => !found.some((part) => part.place === place))
  // It ended between two files: in the second, before that could say so.
  const isCutShort = next !== undefined && found.every(({ isOver }) => isOver) && !running.stopping.aborted
  const parts = isCutShort ? [...found, { place: next.place, tap: '', isOver: false, ok: false, seconds: 0 }] : found
  // A process that dies although all is well with its files died of what the last one left behind.
  const last = parts.every(({ ok }) => ok) ? parts.at(-1) : undefined
  addOver(
    parts.map((part) => (part === last && ended.fault !== undefined ? { ...part, ok: false, isOver: false } : part)),
    ended,
  )
  return all
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
    const [next, ...others] = files.filter(({ place }) => !finished.some((file) => file.place === place))
    if (next === undefined) break
    finished.push(...(await runFiles([next, ...others])))
  }
  return finished
}

/** A file that fails without having run. */
export const failedFile = (file: TestFile, why: string): FinishedFile =>
  finished(file, { tap: '', errors: '', fault: why, seconds: 0 })

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

/** How long a process takes to start in which files run, tap included, in seconds. */
export async function startSeconds(environment: Environment): Promise<number> {
  const running = { environment, timeoutSeconds: 600, stopping: new AbortController().signal }
  return (await new NodeProcess([testProcess], running).ended).seconds
}

class NodeProcess {
  readonly ended: Promise<Ended>
  /** Called when a line says how a test at the top ended. */
  onResult: (soFar: Ended) => void = () => {}
  readonly #startedAt = performance.now()
  #tap = ''
  #errors = ''

  constructor(
    args: readonly string[],
    { environment, timeoutSeconds, stopping, files = 1 }: Running & { readonly files?: number },
  ) {
    const programs = [join(root, 'node_modules/.bin'), process.env.PATH]
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...environment, PATH: programs.join(delimiter), TAP: '1', TAP_TIMEOUT: String(timeoutSeconds) },
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
    const hanging = setTimeout(() => endGroup('SIGKILL'), hangingTimes * files * timeoutSeconds * 1_000)
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      this.#tap += chunk
      if (/^(not )?ok /m.test(chunk)) this.onResult(this.#soFar())
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.#errors += chunk
    })
    this.ended = new Promise<string | undefined>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      // What it has left running may hold its output open, so that 'close' would not come.
      child.once('exit', (status) => {
        if (status !== 0) endGroup('SIGKILL')
      })
      child.once('close', (status, signal) => resolve(status === 0 ? undefined : (signal ?? `exit status ${status}`)))
    }).then((fault) => {
      clearTimeout(hanging)
      stopping.removeEventListener('abort', stop)
      return this.#soFar(fault)
    })
  }

  #soFar(fault?: string): Ended {
    return { tap: this.#tap, errors: this.#errors, fault, seconds: (performance.now() - this.#startedAt) / 1000 }
  }
}
