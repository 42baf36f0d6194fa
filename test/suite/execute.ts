import { availableParallelism } from 'node:os'
import { sharedSystemVariable, startSharedSystem } from '@backoffice/test-kit'
import { type Group, inGroups, runAll, type SecondsOf, sum, type TestFile } from './files.ts'
import type { Pace } from './pace.ts'
import { diagnosticsOf } from './results.ts'
import { print, progress } from './terminal.ts'
import { type FinishedFile, failedFile, runTestFiles, runToTheEnd } from './test-file.ts'

/** One file more at once than there are cores, since each waits now and then. More would only make all of them slower. */
const working = Math.min(availableParallelism(), 4) + 1
/** Beside them, of those that do little but wait. */
const waiting = 2
/** A file that is not over by then hangs, on any machine. */
const timeoutSecondsMax = 1_200

/** Beyond these it is not the machine's fault. */
const rerunFilesMax = 5
/** Of what a failed file wrote to standard error. */
const errorLinesMax = 40

export interface Outcome {
  readonly finished: readonly FinishedFile[]
  /** Files that failed beside others and passed alone. */
  readonly unstable: readonly TestFile[]
  /** What failed besides tests. */
  readonly faults: readonly string[]
}

type RunFiles = (files: Group) => Promise<readonly FinishedFile[]>

function report(file: FinishedFile): void {
  print(`  ${file.ok ? 'ok  ' : 'FAIL'}  ${file.workspace}  ${file.path}  ${file.seconds.toFixed(1)} s`)
  if (file.ok) return
  // At once, because the log of a long run may be cut before its end.
  const errors = file.errors.trimEnd().split('\n').slice(-errorLinesMax)
  for (const line of [...diagnosticsOf(file.tap), ...errors]) print(`        ${line}`)
}

/**
 * Runs failed files once more, alone, to tell what fails beside others only. What passes only then is named, never silent.
 * Asked for by `RERUN_FAILED=true`.
 * @returns all files as they are after that, and those that passed only now
 */
async function rerunFailed(finished: readonly FinishedFile[], runFiles: RunFiles) {
  const failed = finished.filter(({ ok }) => !ok)
  if (failed.length === 0 || failed.length > rerunFilesMax) return { finished, unstable: [] }
  print('\nOnce more, alone:')
  const again = new Map<FinishedFile, FinishedFile>()
  for (const file of failed) for (const result of await runFiles([file])) again.set(file, result)
  return {
    finished: finished.map((file) => again.get(file) ?? file),
    unstable: failed.filter((file) => again.get(file)?.ok),
  }
}

/** The system of all files that share one: it starts with the first of them, and stops with the last. */
class SharedByFiles {
  readonly #inherited: () => NodeJS.ProcessEnv
  readonly #endings: (() => unknown)[] = []
  #filesLeft: number
  #started: Promise<NodeJS.ProcessEnv | null> | undefined

  constructor(files: number, inherited: () => NodeJS.ProcessEnv) {
    this.#filesLeft = files
    this.#inherited = inherited
  }

  /** Runs files. Where the system does not start all of them fail at once, and no other is started. */
  async use(files: Group, run: (environment: NodeJS.ProcessEnv) => Promise<readonly FinishedFile[]>) {
    this.#started ??= startSharedSystem({ teardown: (end) => this.#endings.push(end) }, this.#inherited()).then(
      ({ stackJson }) => ({ [sharedSystemVariable]: stackJson }),
      (error: Error) => {
        print(`The system that files share did not start: ${error.message}`)
        return null
      },
    )
    const environment = await this.#started
    const finished =
      environment === null
        ? files.map((file) => failedFile(file, 'no system: the one that files share did not start'))
        : await run(environment)
    this.#filesLeft -= finished.length
    if (this.#filesLeft <= 0) await this.stop()
    return finished
  }

  /** Also when not all of its files came. Who comes later starts another. */
  async stop(): Promise<void> {
    await this.#started
    this.#started = undefined
    for (const end of this.#endings.splice(0)) await end()
  }
}

interface Running {
  readonly environment: NodeJS.ProcessEnv
  readonly secondsOf: SecondsOf
  readonly pace: Pace
  /** Of a file, where the machine is as fast as usual. */
  readonly timeoutSeconds: number
  /** What is looked at besides tests, in the place of one of them. @returns what was found wrong */
  readonly looks: (() => Promise<readonly string[]>) | undefined
}

/** Runs files, each once. */
export async function execute(
  files: readonly TestFile[],
  { environment, secondsOf, pace, timeoutSeconds: usual, looks }: Running,
): Promise<Outcome> {
  const stopping = new AbortController()
  // A runner that is ended takes its files along, and still says what it knows.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())
  const patient = () => ({ ...environment, PATIENCE: String(pace.patience) })
  const system = new SharedByFiles(files.filter(({ sharesSystem }) => sharesSystem).length, patient)
  const done = { files: 0, seconds: 0 }
  const isOver = (file: FinishedFile) => {
    report(file)
    done.files += 1
    done.seconds += secondsOf(file)
    progress.at(`${done.files} of ${files.length} files`, done.seconds / sum(files, secondsOf))
  }
  const runFiles: RunFiles = async (files) => {
    const timeoutSeconds = Math.min(usual * (await pace.measure()), timeoutSecondsMax)
    const run = (more: NodeJS.ProcessEnv) => {
      const running = { timeoutSeconds, stopping: stopping.signal, isOver }
      return runTestFiles(files, { environment: { ...patient(), ...more }, ...running })
    }
    return files[0].sharesSystem ? system.use(files, run) : run({})
  }
  const first: FinishedFile[] = []
  const faults: string[] = []
  let running = 0
  const take = async (group: Group | 'looks') => {
    await pace.mayRunBeside(() => running, working)
    running += 1
    if (group === 'looks') faults.push(...((await looks?.()) ?? []))
    else first.push(...(await runToTheEnd(group, runFiles, stopping.signal)))
    running -= 1
  }
  const groupsOf = (waits: boolean) =>
    inGroups(
      files.filter((file) => file.waits === waits),
      secondsOf,
    )
  try {
    await pace.measure()
    const [longest = [], ...others] = groupsOf(false).map((group) => [group])
    await Promise.all([
      runAll([...longest, ...(looks === undefined ? [] : (['looks'] as const)), ...others.flat()], working, take),
      runAll(groupsOf(true), waiting, async (group) => {
        first.push(...(await runToTheEnd(group, runFiles, stopping.signal)))
      }),
    ])
    if (first.length < files.length) faults.push(`the run ended after ${first.length} of ${files.length} files`)
    const rerun = process.env.RERUN_FAILED === 'true' && !stopping.signal.aborted
    return { faults, ...(rerun ? await rerunFailed(first, runFiles) : { finished: first, unstable: [] }) }
  } finally {
    progress[Symbol.dispose]()
    await system.stop()
  }
}
