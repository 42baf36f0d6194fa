import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startThrowAwayPostgres } from '@backoffice/dev-stack'
import { watchProgress } from './progress.ts'
import { failedFiles, type Results, readWorkspaceResults, type SkippedTest } from './results.ts'
import { type Selection, select } from './selection.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const testFolder = join(root, 'test')
const turbo = join(root, 'node_modules/.bin/turbo')
/** Two cores of an ordinary build machine; more at once only makes time-outs likelier. test/ takes two at a time itself. */
const workspacesAtOnce = 2
const postgresConnections = 400
const resultsPath = '.tap/results.tap'

/** Beyond these it is not the machine's fault. */
const rerunFilesMax = 5

interface Workspace {
  readonly name: string
  readonly directory: string
  readonly resultsFile: string
}

const env: NodeJS.ProcessEnv = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', NO_COLOR: '1' }

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

function testWorkspaces({ filters }: Selection): readonly Workspace[] {
  const result = spawnSync(turbo, ['run', 'test', '--dry-run=json', ...filters], { cwd: root, env, encoding: 'utf8' })
  if (result.status !== 0) throw new Error(`turbo cannot list the test tasks:\n${result.stdout}${result.stderr}`)
  const { tasks } = JSON.parse(result.stdout) as { tasks: { package: string; directory: string; command: string }[] }
  return tasks
    .filter((task) => task.command !== '<NONEXISTENT>')
    .map(({ package: name, directory }) => ({
      name,
      directory: join(root, directory),
      resultsFile: join(root, directory, resultsPath),
    }))
}

/** @returns the exit status of turbo, which is not 0 when any workspace failed. */
async function runTests(workspaces: readonly Workspace[], { filters, files }: Selection, postgresUrl: string) {
  for (const { resultsFile } of workspaces) {
    // An old file would pass for the result of a runner that never started.
    rmSync(resultsFile, { force: true })
    mkdirSync(dirname(resultsFile), { recursive: true })
  }
  const stopWatching = watchProgress(workspaces, print)
  const args = ['run', 'test', '--continue', '--env-mode=loose', `--concurrency=${workspacesAtOnce}`]
  const child = spawn(turbo, [...args, '--output-logs=errors-only', '--log-prefix=none', ...filters], {
    cwd: root,
    env: {
      ...env,
      POSTGRES_URL: postgresUrl,
      TAP_OUTPUT_FILE: resultsPath,
      TAP_REPORTER: 'min',
      // Which files of test/, as its package.json hands them to tap; all of them when empty.
      SYSTEM_TESTS: files.join(' '),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // A killed runner takes its workspaces along, and still says what it knows.
  const interrupt = () => child.kill('SIGTERM')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt)
  const output: Buffer[] = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  child.stderr.on('data', (chunk) => output.push(chunk))
  const status = await new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)))
  stopWatching()
  if (status !== 0) print(`\n${Buffer.concat(output).toString()}`)
  return status
}

interface Rerun {
  /** Files that failed beside the others and passed alone. */
  readonly unstable: readonly string[]
  /** Whether nothing else failed. */
  readonly explains: boolean
}

const noRerun: Rerun = { unstable: [], explains: false }

/**
 * Runs failed files once more, alone: a machine that is too busy must not hide whether the code is right. What passes
 * only then is named, never silent. Asked for by `RERUN_FAILED=true`.
 */
function rerunFailed(workspaces: readonly Workspace[], postgresUrl: string): Rerun {
  const failed = workspaces.flatMap((workspace) =>
    failedFiles(existsSync(workspace.resultsFile) ? readFileSync(workspace.resultsFile, 'utf8') : '').map((file) => ({
      workspace,
      file,
    })),
  )
  if (failed.length === 0 || failed.length > rerunFilesMax) return noRerun
  print('\nOnce more, alone:')
  const unstable = failed.filter(({ workspace, file }) => {
    const startedAt = Date.now()
    const result = spawnSync(join(root, 'node_modules/.bin/tap'), [file], {
      cwd: workspace.directory,
      env: { ...env, POSTGRES_URL: postgresUrl, TAP_REPORTER: 'tap' },
      encoding: 'utf8',
    })
    const ok = result.status === 0
    print(`  ${ok ? 'ok  ' : 'FAIL'}  ${workspace.name}  ${file}  ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
    if (!ok) print(`${result.stdout}${result.stderr}`)
    return ok
  })
  return {
    unstable: unstable.map(({ workspace, file }) => `${workspace.name}  ${file}`),
    explains: unstable.length === failed.length,
  }
}

function resultsOf({ resultsFile }: Workspace): Results {
  return readWorkspaceResults(existsSync(resultsFile) ? readFileSync(resultsFile, 'utf8') : '')
}

function summarise(workspaces: readonly Workspace[], status: number, rerun: Rerun): number {
  let passed = 0
  const failed: string[] = []
  const skipped: SkippedTest[] = []
  for (const workspace of workspaces) {
    const results = resultsOf(workspace)
    passed += results.passed
    for (const name of results.failed.map((name) => `${workspace.name}  ${name}`)) {
      if (rerun.unstable.some((file) => name.startsWith(file))) passed += 1
      else failed.push(name)
    }
    skipped.push(...results.skipped.map((test) => ({ ...test, name: `${workspace.name}  ${test.name}` })))
  }
  if (status !== 0 && failed.length === 0 && !rerun.explains) failed.push(`turbo ended with exit status ${status}`)
  if (failed.length > 0) print(`\nFailed:\n${failed.map((name) => `  ${name}`).join('\n')}`)
  if (skipped.length > 0) print(`\nSkipped:\n${skipped.map(({ name, reason }) => `  ${name}: ${reason}`).join('\n')}`)
  if (rerun.unstable.length > 0)
    print(`\nUnstable (failed beside others, passed alone):\n  ${rerun.unstable.join('\n  ')}`)
  print(`\n${lastLine(passed, failed.length, skipped.length)}`)
  return failed.length === 0 ? 0 : 1
}

const lastLine = (passed: number, failed: number, skipped: number) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

/** @returns the exit status. */
async function main(names: readonly string[]): Promise<number> {
  const sound =
    // One program for all workspaces: each alone would check again whatever it imports.
    check('types (tsc)', join(root, 'node_modules/.bin/tsc'), ['--noEmit', '--project', 'tsconfig.json']) &&
    check('formatter and linter (biome)', join(root, 'node_modules/.bin/biome'), ['check', '--error-on-warnings', '.'])
  if (!sound) {
    print(lastLine(0, 1, 0))
    return 1
  }
  const selection = select(names, globSync('*/**/*.test.ts', { cwd: testFolder }))
  const workspaces = testWorkspaces(selection)
  const folder = mkdtempSync(join(tmpdir(), 'backoffice-test-'))
  chmodSync(folder, 0o755)
  const given = process.env.POSTGRES_URL
  const postgres = given === undefined ? await startThrowAwayPostgres(folder, postgresConnections) : undefined
  try {
    print(`PostgreSQL: ${postgres === undefined ? 'POSTGRES_URL' : 'embedded, for this run only'}`)
    const postgresUrl = postgres?.url ?? (given as string)
    const status = await runTests(workspaces, selection, postgresUrl)
    const rerun = process.env.RERUN_FAILED === 'true' ? rerunFailed(workspaces, postgresUrl) : noRerun
    return summarise(workspaces, status, rerun)
  } finally {
    await postgres?.child.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main(process.argv.slice(2))
