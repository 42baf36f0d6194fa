import { spawnSync } from 'node:child_process'
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { areContainersWanted, sharedSystemVariable, startSystem, startTestPostgres } from '@backoffice/test-kit'
import { parse } from 'yaml'
import { inGroups, mayShareProcess, sharesSystem } from './groups.ts'
import { inOrder, isLong, runAll } from './order.ts'
import { ReferenceCounted, type Resource } from './reference-counted.ts'
import { diagnosticsOf } from './results.ts'
import { type Selection, select } from './selection.ts'
import { type FinishedFile, runTestFiles, runToTheEnd, type TestFile, type TestFiles } from './test-file.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const testFolder = join(root, 'test')
/**
 * As many long files at once as there are cores. Beside them one of the short ones, whose place is taken from the other
 * end, because long files all begin alike: they start processes. And beside these one that does little but wait. More at
 * once only makes time-outs likelier.
 */
const places = { first: Math.min(availableParallelism(), 4), last: 1 }
const alone = { first: 1, last: 0 }
const postgresConnections = 400

/** Beyond these it is not the machine's fault. */
const rerunFilesMax = 5
/** Of what a failed file wrote to standard error. */
const errorLinesMax = 40

const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' }

function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}

/** A command that must succeed before tests are worth running. */
function check(name: string, command: string, args: readonly string[]): boolean {
  const startedAt = Date.now()
  const result = spawnSync(command, args, { cwd: root, env, encoding: 'utf8' })
  const ok = result.status === 0
  print(`${ok ? 'ok  ' : 'FAIL'}  ${name}  ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
  if (!ok) print(`${result.stdout}${result.stderr}`)
  return ok
}

function listTestFiles({ words, files }: Selection): readonly TestFile[] {
  return globSync(['{packages,services}/*/package.json', '{test,bench}/package.json'], { cwd: root })
    .sort()
    .flatMap((file) => {
      const { name: workspace } = JSON.parse(readFileSync(join(root, file), 'utf8')) as { name: string }
      if (words.length > 0 && !words.some((word) => workspace.includes(word))) return []
      const directory = join(root, dirname(file))
      const own = directory === testFolder
      const paths = globSync(own ? '*/**/*.test.ts' : 'test/**/*.test.ts', { cwd: directory }).sort()
      const wanted = own && files.length > 0 ? paths.filter((path) => files.includes(path)) : paths
      return wanted.map((path) => ({ workspace, directory, path }))
    })
}

function report(file: FinishedFile): void {
  print(`  ${file.ok ? 'ok  ' : 'FAIL'}  ${file.workspace}  ${file.path}  ${file.seconds.toFixed(1)} s`)
  if (file.ok) return
  // At once, because the log of a long run may be cut before its end.
  const errors = file.errors.trimEnd().split('\n').slice(-errorLinesMax)
  for (const line of [...diagnosticsOf(file.tap), ...errors]) print(`        ${line}`)
}

type RunFiles = (files: TestFiles) => Promise<readonly FinishedFile[]>

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

interface Outcome {
  readonly finished: readonly FinishedFile[]
  readonly unstable: readonly TestFile[]
  /** What failed besides tests. */
  readonly faults: readonly string[]
}

const sourceOf = ({ directory, path }: TestFile): string => readFileSync(join(directory, path), 'utf8')
const fromRoot = ({ directory, path }: TestFile): string => relative(root, join(directory, path))

async function startSharedSystem(inherited: NodeJS.ProcessEnv): Promise<Resource> {
  const endings: (() => unknown)[] = []
  const stop = async () => {
    for (const end of endings) await end()
  }
  try {
    const { stackJson } = await startSystem({ teardown: (end) => endings.push(end) }, { inherited })
    return { environment: { [sharedSystemVariable]: stackJson }, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function runTests(files: readonly TestFile[], environment: NodeJS.ProcessEnv): Promise<Outcome> {
  const stopping = new AbortController()
  // A runner that is ended takes its files along, and still says what it knows.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())
  const sharing = files.filter((file) => sharesSystem(sourceOf(file)))
  const system = new ReferenceCounted(sharing.length, () => startSharedSystem(environment))
  const runFiles: RunFiles = async (files) => {
    const [{ directory, path }] = files
    const run = (more: NodeJS.ProcessEnv) => runTestFiles(files, { ...environment, ...more }, stopping.signal)
    const shares = sharing.some((other) => other.directory === directory && other.path === path)
    const finished = await (shares ? system.use(run) : run({}))
    for (const file of finished) report(file)
    return finished
  }
  const first: FinishedFile[] = []
  const unlessStopping = async (files: TestFiles) => {
    first.push(...(await runToTheEnd(files, runFiles, stopping.signal)))
  }
  const mayShare = (file: TestFile) => !isLong(fromRoot(file)) && mayShareProcess(sourceOf(file))
  // Groups come before single files, so that none is left when the rest is done.
  const groups = inGroups(files, mayShare).toSorted((a, b) => b.length - a.length)
  const { working, waiting } = inOrder(groups, ([file]) => fromRoot(file))
  try {
    await Promise.all([runAll(working, places, unlessStopping), runAll(waiting, alone, unlessStopping)])
    const faults = stopping.signal.aborted
      ? [`the run was interrupted after ${first.length} of ${files.length} files`]
      : []
    const rerun = process.env.RERUN_FAILED === 'true' && !stopping.signal.aborted
    return { faults, ...(rerun ? await rerunFailed(first, runFiles) : { finished: first, unstable: [] }) }
  } finally {
    await system.stop()
  }
}

/** @returns the exit status. */
function summarise({ finished, unstable, faults }: Outcome): number {
  const sorted = finished.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
  const passed = sorted.reduce((sum, { results }) => sum + results.passed, 0)
  const failed = [
    ...sorted.flatMap(({ workspace, results }) => results.failed.map((name) => `${workspace}  ${name}`)),
    ...faults,
  ]
  const skipped = sorted.flatMap(({ workspace, results }) =>
    results.skipped.map(({ name, reason }) => `${workspace}  ${name}: ${reason}`),
  )
  const list = (title: string, lines: readonly string[]) => {
    if (lines.length > 0) print(`\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`)
  }
  list('Failed', failed)
  list('Skipped', skipped)
  list('Unstable (failed beside others, passed alone)', unstable.map(nameOf))
  print(`\n${lastLine(passed, failed.length, skipped.length)}`)
  return failed.length === 0 ? 0 : 1
}

const nameOf = ({ workspace, path }: TestFile) => `${workspace}  ${path}`

const lastLine = (passed: number, failed: number, skipped: number) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

/** @returns the exit status. */
async function main(names: readonly string[]): Promise<number> {
  const sound =
    check('types of the client', process.execPath, ['packages/client/scripts/make-types.ts']) &&
    // One program for all workspaces: each alone would check again whatever it imports. And one checker: several know
    // nothing of each other, and four of them, as by default, do almost twice the work.
    check('types (tsc)', join(root, 'node_modules/.bin/tsc'), [
      '--noEmit',
      '--incremental',
      '--tsBuildInfoFile',
      '.cache/tsc.tsbuildinfo',
      '--checkers',
      '1',
      '--project',
      'tsconfig.json',
    ]) &&
    check('formatter and linter (biome)', join(root, 'node_modules/.bin/biome'), ['check', '--error-on-warnings', '.'])
  if (!sound) {
    print(lastLine(0, 1, 0))
    return 1
  }
  const files = listTestFiles(select(names, globSync('*/**/*.test.ts', { cwd: testFolder })))
  if (files.length === 0) {
    print(`No workspace and no folder of test/ is called ${names.join(' or ')}.`)
    print(lastLine(0, 1, 0))
    return 1
  }
  const folder = mkdtempSync(join(tmpdir(), 'backoffice-test-'))
  chmodSync(folder, 0o755)
  const given = process.env.POSTGRES_URL
  const postgres = given === undefined ? await startTestPostgres(postgresConnections) : undefined
  try {
    const where = areContainersWanted() ? 'a container' : 'embedded'
    print(`PostgreSQL: ${postgres === undefined ? 'POSTGRES_URL' : `${where}, for this run only`}`)
    const environment = {
      ...env,
      POSTGRES_URL: postgres?.url ?? given,
      TAP_TIMEOUT: String(fileTimeoutSeconds()),
      // Node keeps here what it has compiled, so that of two hundred processes only the first few compile the same code.
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
    }
    return summarise(await runTests(files, environment))
  } finally {
    await postgres?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The same as for `npx tap`. */
function fileTimeoutSeconds(): number {
  return parse(readFileSync(join(root, '.taprc'), 'utf8')).timeout
}

process.exitCode = await main(process.argv.slice(2))
