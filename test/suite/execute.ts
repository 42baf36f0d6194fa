import { availableParallelism } from 'node:os'
import { sharedSystemVariable, startSharedSystem } from '@backoffice/test-kit'
import type { TestFile } from './files.ts'
import { type Group, inGroups, runAll, type SecondsOf } from './order.ts'
import { print } from './print.ts'
import { diagnosticsOf } from './results.ts'
import { type FinishedFile, runTestFiles, runToTheEnd } from './test-file.ts'

/**
 * As many long files at once as there are cores. Beside them one of the short ones, whose place is taken from the other
 * end, because long files all begin alike: they start processes. And beside these two that do little but wait. More at
 * once only makes time-outs likelier.
 */
const working = { first: Math.min(availableParallelism(), 4), last: 1 }
const waiting = { first: 2, last: 0 }
const alone = { first: 1, last: 0 }

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
 * Runs failed files once more, alone: a machine that is too busy must not hide whether the code is right. What passes
 * only then is named, never silent. Asked for by `RERUN_FAILED=true`.
 * @returns all files as they are after that, and those that passed only now
 */
async function rerunFailed(finished: readonly FinishedFile[], runFiles: RunFiles) {
  const failed = finished.filter(({ ok }) => !ok)
  if (failed.length === 0 || failed.length > rerunFilesMax) return { finished, unstable: [] }
  print('\nOnce more, alone:')
  const again = new Map<FinishedFile, FinishedFile>()
  await runAll(failed, alone, async (file) => {
    for (const result of await runFiles([file])) again.set(file, result)
  })
  return {
    finished: finished.map((file) => again.get(file) ?? file),
    unstable: failed.filter((file) => again.get(file)?.ok),
  }
}

/** The system of all files that share one: it starts with the first of them, and stops with the last. */
class SharedByFiles {
  readonly #inherited: NodeJS.ProcessEnv
  readonly #endings: (() => unknown)[] = []
  #filesLeft: number
  #started: Promise<NodeJS.ProcessEnv> | undefined

  constructor(files: number, inherited: NodeJS.ProcessEnv) {
    this.#filesLeft = files
    this.#inherited = inherited
  }

  /** Runs one file. Where no system could be started it gets no variable, and tells by itself what is wrong. */
  async use<T>(run: (environment: NodeJS.ProcessEnv) => Promise<T>): Promise<T> {
    this.#started ??= startSharedSystem({ teardown: (end) => this.#endings.push(end) }, this.#inherited).then(
      ({ stackJson }) => ({ [sharedSystemVariable]: stackJson }),
      () => ({}),
    )
    try {
      return await run(await this.#started)
    } finally {
      this.#filesLeft -= 1
      if (this.#filesLeft === 0) await this.stop()
    }
  }

  /** Also when not all of its files came. Who comes later starts another. */
  async stop(): Promise<void> {
    await this.#started
    this.#started = undefined
    for (const end of this.#endings.splice(0)) await end()
  }
}

/** Runs files, each once. */
export async function execute(
  files: readonly TestFile[],
  environment: NodeJS.ProcessEnv,
  secondsOf: SecondsOf,
): Promise<Outcome> {
  const stopping = new AbortController()
  // A runner that is ended takes its files along, and still says what it knows.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())
  const system = new SharedByFiles(files.filter(({ sharesSystem }) => sharesSystem).length, environment)
  const runFiles: RunFiles = async (files) => {
    const run = (more: NodeJS.ProcessEnv) => runTestFiles(files, { ...environment, ...more }, stopping.signal)
    const finished = await (files[0].sharesSystem ? system.use(run) : run({}))
    for (const file of finished) report(file)
    return finished
  }
  const first: FinishedFile[] = []
  const unlessStopping = async (files: Group) => {
    first.push(...(await runToTheEnd(files, runFiles, stopping.signal)))
  }
  const groupsOf = (waits: boolean) =>
    inGroups(
      files.filter((file) => file.waits === waits),
      secondsOf,
    )
  try {
    await Promise.all([
      runAll(groupsOf(false), working, unlessStopping),
      runAll(groupsOf(true), waiting, unlessStopping),
    ])
    const faults = stopping.signal.aborted
      ? [`the run was interrupted after ${first.length} of ${files.length} files`]
      : []
    const rerun = process.env.RERUN_FAILED === 'true' && !stopping.signal.aborted
    return { faults, ...(rerun ? await rerunFailed(first, runFiles) : { finished: first, unstable: [] }) }
  } finally {
    await system.stop()
  }
}
