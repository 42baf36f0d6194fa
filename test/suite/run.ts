import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { natsServerBinary, natsServerWarning } from '@backoffice/local-stack'
import { areContainersWanted, startTestPostgres } from '@backoffice/test-kit'
import { parse } from 'yaml'
import { type Changes, changesSince, testsOf } from './changed.ts'
import { execute, type Outcome } from './execute.ts'
import { listTestFiles, named, record, root, secondsOf, shardOf, type TestFile, type Tier } from './files.ts'
import { Pace, processorSeconds, slowDown } from './pace.ts'
import { lastLine, type Options, parseOptions, print, printList, printWarning, usage } from './terminal.ts'

const postgresConnections = 400
/** What a run of a whole tier may take of a processor, on a machine with two cores that does nothing else. */
const processorSecondsMax: Readonly<Record<Tier, number>> = { test: 400, proofs: 1_200 }
const commands: Readonly<Record<Tier, string>> = { test: 'npm test', proofs: 'npm run proofs' }

const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' }

/** @returns the name of what was found wrong, as a list of at most one. */
async function check(name: string, program: string, args: readonly string[]): Promise<readonly string[]> {
  const startedAt = performance.now()
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  const ok = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', (status) => resolve(status === 0))
  })
  print(`${ok ? 'ok  ' : 'FAIL'}  ${name}  ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  if (!ok) print(Buffer.concat(output).toString())
  return ok ? [] : [name]
}

const inModules = (program: string) => join(root, 'node_modules/.bin', program)

/**
 * What is not a test and still must be right. One after the other, so that the longest files are not crowded.
 * @param paths of which to check the form
 */
async function checkSources(paths: readonly string[]): Promise<readonly string[]> {
  return [
    // One program for all workspaces: each alone would check again whatever it imports. And one checker: several know
    // nothing of each other, and four of them, as by default, do almost twice the work.
    ...(await check('types (tsc)', inModules('tsc'), [
      '--noEmit',
      '--incremental',
      '--tsBuildInfoFile',
      '.cache/tsc.tsbuildinfo',
      '--checkers',
      '1',
      '--project',
      'tsconfig.json',
    ])),
    ...(await check('formatter and linter (biome)', inModules('biome'), [
      ...['check', '--error-on-warnings', '--files-ignore-unknown=true', '--no-errors-on-unmatched'],
      ...paths,
    ])),
  ]
}

const nameOf = ({ workspace, path }: TestFile) => `${workspace}  ${path}`

/** @returns the exit status. */
function summarise({ finished, unstable, faults }: Outcome, options: Options, took: Took): number {
  const sorted = finished.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
  const passed = sorted.reduce((sum, { results }) => sum + results.passed, 0)
  const failed = [
    ...sorted.flatMap(({ workspace, results }) => results.failed.map((name) => `${workspace}  ${name}`)),
    ...faults,
  ]
  const skipped = sorted.flatMap(({ workspace, results }) =>
    results.skipped.map(({ name, reason }) => `${workspace}  ${name}: ${reason}`),
  )
  printList('Failed', failed)
  printList('Skipped', skipped)
  printWarning('Unstable (failed beside others, passed alone)', unstable.map(nameOf))
  printTime(options, took)
  print(`\n${lastLine(passed, failed.length, skipped.length)}`)
  if (options.record && failed.length === 0) record(finished, listTestFiles())
  return failed.length === 0 ? 0 : 1
}

interface Took {
  readonly seconds: number
  /** Null where the system does not say. */
  readonly processor: number | null
  /** How many times slower than usual the machine was at its slowest. */
  readonly patience: number
}

/** A whole tier has a budget, of which a part says nothing, and a slow machine neither. */
function printTime({ tier, names, changed, shard }: Options, { seconds, processor, patience }: Took): void {
  const ofProcessor = processor === null ? '' : `, ${processor.toFixed(0)} s of processor`
  const took = `${commands[tier]} took ${seconds.toFixed(0)} s${ofProcessor}, patience ${patience}`
  const isPart = names.length > 0 || changed !== undefined || shard !== undefined
  const most = processorSecondsMax[tier]
  if (isPart || processor === null || processor <= most) print(`\n${took}`)
  else printWarning('Over its budget', [`${took}; ${most} s of processor are what two idle cores should need`])
}

/** What this run is about: files of one tier, and not always all of them. */
function chosen({ tier, names, shard }: Options, changes: Changes | undefined): readonly TestFile[] {
  const ofTier = listTestFiles().filter((file) => file.tier === tier)
  // Who asks for proofs has time.
  const near = changes && testsOf(changes, ofTier, tier === 'test' ? secondsOf : () => 0)
  const files = near === undefined ? named(ofTier, names) : ofTier.filter((file) => near.includes(file))
  return shard === undefined ? files : shardOf(files, shard, secondsOf)
}

/** Linux keeps in memory what is written here. */
const memory = '/dev/shm'
/** A few times what `npm test` writes. The proofs write more, and fill disks. */
const memoryBytesMin = 8 * 2 ** 30

function hasMemory(): boolean {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : ''
  if (!/^\S+ \/dev\/shm tmpfs (?!\S*\bnoexec\b)/m.test(mounts)) return false
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= memoryBytesMin
}

/**
 * Where all temporary files of the run are. Each test has a database, a thousand files that keep a disk's file system
 * busy for longer than most tests take.
 */
function temporaryFolderFor({ tier }: Options): string {
  const folder = mkdtempSync(join(tier === 'test' && hasMemory() ? memory : tmpdir(), 'backoffice-test-'))
  // PostgreSQL may run as another account.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  return folder
}

async function runChosen(
  files: readonly TestFile[],
  options: Options,
  changes: Changes | undefined,
): Promise<Outcome & Pick<Took, 'patience'>> {
  const folder = temporaryFolderFor(options)
  const given = process.env.POSTGRES_URL
  const postgres = given === undefined ? await startTestPostgres(postgresConnections) : undefined
  try {
    const where = areContainersWanted() ? 'a container' : 'embedded'
    print(`PostgreSQL: ${postgres === undefined ? 'POSTGRES_URL' : `${where}, for this run only`}`)
    // Asked once for all files, which are told what they need of it.
    let binary = process.env.NATS_SERVER
    if (!areContainersWanted()) {
      binary = await natsServerBinary().catch(() => undefined)
      const warning = binary && (await natsServerWarning(binary))
      if (warning !== undefined) printWarning('nats-server', [warning])
    }
    const environment = {
      ...env,
      NATS_SERVER: binary,
      NATS_SERVER_VERSION: process.env.NATS_SERVER_VERSION,
      TMPDIR: folder,
      POSTGRES_URL: postgres?.url ?? given,
      // Node keeps here what it has compiled, so that of two hundred processes only the first few compile the same code.
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
    }
    // Of several machines one looks at the sources.
    const looks = options.tier === 'test' && (options.shard?.number ?? 1) === 1
    const paths = changes?.files.filter((path) => existsSync(join(root, path))) ?? ['.']
    const pace = new Pace(environment)
    const { timeout: timeoutSeconds } = parse(readFileSync(join(root, '.taprc'), 'utf8'))
    const running = {
      environment,
      secondsOf,
      pace,
      timeoutSeconds,
      looks: looks ? () => checkSources(paths) : undefined,
    }
    const outcome = await execute(files, running)
    return { ...outcome, patience: pace.patience }
  } finally {
    await postgres?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function refuse(why: string): number {
  print(why)
  print(lastLine(0, 1, 0))
  return 1
}

/** @returns the exit status. */
async function main(options: Options): Promise<number> {
  const startedAt = performance.now()
  // What the tests of the client and of others load is made first.
  const made = await check('types of the client', process.execPath, ['packages/client/scripts/make-types.ts'])
  if (made.length > 0) return refuse('Nothing can be tested.')
  const changes = options.changed && changesSince(options.changed.since)
  const files = chosen(options, changes)
  if (files.length === 0 && options.changed !== undefined) {
    print(`Nothing has changed that a test of ${commands[options.tier]} could tell.`)
    print(lastLine(0, 0, 0))
    return 0
  }
  if (files.length === 0) {
    const what = options.names.length > 0 ? ` by the name of ${options.names.join(' or ')}` : ''
    return refuse(`${commands[options.tier]} has no test${what}. Perhaps ${commands[otherThan(options.tier)]} has.`)
  }
  const outcome = await runChosen(files, options, changes)
  const seconds = (performance.now() - startedAt) / 1000
  return summarise(outcome, options, { seconds, processor: processorSeconds(), patience: outcome.patience })
}

const otherThan = (tier: Tier): Tier => (tier === 'test' ? 'proofs' : 'test')

/** What the arguments ask for; undefined when they are wrong, which is said. */
function asked(): Options | undefined {
  try {
    return parseOptions(process.argv.slice(2))
  } catch (error) {
    refuse((error as Error).message)
    return undefined
  }
}

/** @returns the exit status. */
async function mainSlowly(options: Options): Promise<number> {
  try {
    const giveBack = slowDown()
    return await main(options).finally(giveBack)
  } catch (error) {
    return refuse((error as Error).message)
  }
}

if (process.argv.includes('--help')) {
  print(usage)
  process.exit()
}
const options = asked()
process.exitCode = options === undefined ? 1 : await (options.slow ? mainSlowly : main)(options)
