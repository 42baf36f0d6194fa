import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startThrowAwayPostgres } from '@backoffice/dev-stack'
import fc from 'fast-check'
import { root } from '../structure/source-files.ts'
import { WorkingCopy } from '../structure/working-copy.ts'
import { applied, type Mutant, mutantsOf } from './mutations.ts'
import { findNamedMutants } from './named.ts'
import { dropTestDatabases, run } from './runs.ts'
import { inOrder, type Record, targetFiles, testFilesOf, unknownRecord, workspaceOf } from './targets.ts'

const usage = `npm run mutants -- [options] [path …]

Makes one small mistake at a time in money code, in a copy of the repository, and runs the tests of its workspace until
one fails. A mutant that no test notices survives, and is worth a test or an argument.

  path            a file, or the beginning of paths, instead of money code: services/wallet/src/ledger
  --sample N      N mutants, drawn with the seed, instead of all
  --seed S        a number; the same draws the same mutants from the same sources
  --tests DIR     only the tests below this folder of a workspace, for a quick look: test/ledger
  --named         instead, the mutants that take one guard of "exactly one effect" each out of the code
  --list          prints the mutants and runs nothing
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: 'test/' },
    named: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

/** A test file that takes so long does not end: several times what it took, and more for one that has not run yet. */
const secondsMax = ({ seconds }: Record) => 60 + 4 * seconds
const compileSecondsMax = 300

type Fate = 'killed' | 'timed out' | 'does not compile' | 'survived'
/** @property test the name of the test file that runs first, in another workspace where one is said */
type Tried = Mutant & { readonly test?: string; readonly workspace?: string | undefined }
interface Result {
  readonly mutant: Tried
  readonly fate: Fate
}

const print = (line = '') => void process.stdout.write(`${line}\n`)
const placeOf = ({ path, line }: Mutant) => `${path}:${line}`

function drawn(mutants: readonly Tried[]): readonly Tried[] {
  const count = Math.min(Number(values.sample ?? mutants.length), mutants.length)
  const draw = fc.shuffledSubarray([...mutants], { minLength: count, maxLength: count })
  return fc.sample(draw, { seed: Number(values.seed), numRuns: 1 })[0] ?? []
}

/** The tests of the workspaces in a copy, and how they did. */
class Suite {
  readonly #copy = new WorkingCopy()
  readonly #postgresUrl: string
  readonly #records = new Map<string, Map<string, Record>>()

  constructor(postgresUrl: string) {
    this.#postgresUrl = postgresUrl
  }

  async try(mutant: Tried): Promise<{ readonly fate: Fate; readonly by: string }> {
    const target = join(this.#copy.folder, mutant.path)
    const source = readFileSync(target, 'utf8')
    const { workspace = workspaceOf(mutant.path) } = mutant
    const records = this.#recordsOf(workspace)
    try {
      for (const record of inOrder(mutant.test ?? mutant.path, [...records.values()])) {
        const { file } = record
        writeFileSync(target, applied(source, mutant))
        const { ending, seconds } = await this.#test(workspace, record)
        if (ending === 'passed') {
          records.set(file, { ...record, seconds })
          continue
        }
        // A busy machine makes a test fail now and then. One that notices the mutant notices it again.
        if (ending === 'failed' && (await this.#test(workspace, record)).ending === 'passed') continue
        writeFileSync(target, source)
        if (record.isSound || (await this.#passes(workspace, record))) {
          const { seconds = record.seconds } = records.get(file) ?? {}
          records.set(file, { file, seconds, kills: record.kills + 1, isSound: true })
          return { fate: ending === 'failed' ? 'killed' : ending, by: file }
        }
        // It judges nothing then.
        records.delete(file)
        print(`${workspace}/${file} fails without a mutant and is left out`)
      }
      writeFileSync(target, applied(source, mutant))
      const { ending } = await this.#compile()
      return ending === 'passed' ? { fate: 'survived', by: '' } : { fate: 'does not compile', by: 'tsc' }
    } finally {
      writeFileSync(target, source)
      await dropTestDatabases(this.#postgresUrl)
    }
  }

  #recordsOf(workspace: string): Map<string, Record> {
    const known = this.#records.get(workspace)
    if (known !== undefined) return known
    const records = new Map(testFilesOf(workspace, values.tests).map((file) => [file, unknownRecord(file)]))
    this.#records.set(workspace, records)
    return records
  }

  /** Whether a test passes without a mutant; the second time, if the machine was too busy for the first. */
  async #passes(workspace: string, record: Record): Promise<boolean> {
    for (const _ of [1, 2]) {
      const { ending, seconds } = await this.#test(workspace, record)
      if (ending !== 'passed') continue
      this.#recordsOf(workspace).set(record.file, { ...record, seconds })
      return true
    }
    return false
  }

  #test(workspace: string, record: Record) {
    const limit = secondsMax(record)
    const env = { POSTGRES_URL: this.#postgresUrl, TAP_BAIL: '1', TAP_TIMEOUT: String(limit) }
    return run(workspace, process.execPath, [record.file], { env, secondsMax: limit, copy: this.#copy.folder })
  }

  #compile() {
    const args = ['--noEmit', '--project', 'tsconfig.json', '--incremental', '--tsBuildInfoFile', '.cache/tsbuildinfo']
    return run('.', 'tsc', args, { secondsMax: compileSecondsMax, copy: this.#copy.folder })
  }

  end(): void {
    this.#copy.remove()
  }
}

async function tryAll(mutants: readonly Tried[]): Promise<readonly Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'backoffice-mutants-'))
  chmodSync(folder, 0o755)
  const { url, child } = await startThrowAwayPostgres(folder)
  const suite = new Suite(url)
  const results: Result[] = []
  let isOver = false
  // What has been found until then is still worth a summary, and nothing is left behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      isOver = true
    })
  try {
    for (const mutant of mutants) {
      if (isOver) break
      const startedAt = performance.now()
      const { fate, by } = await suite.try(mutant)
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
      print(`${fate.padEnd(16)}  ${placeOf(mutant)}  ${mutant.change}  (${by === '' ? '' : `${by}, `}${seconds} s)`)
      results.push({ mutant, fate })
    }
  } finally {
    suite.end()
    await child.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return results
}

function summarise(results: readonly Result[]): void {
  const count = (...fates: Fate[]) => results.filter(({ fate }) => fates.includes(fate)).length
  const tested = results.length - count('does not compile')
  const killed = count('killed', 'timed out')
  const survivors = results.filter(({ fate }) => fate === 'survived')
  if (survivors.length > 0) print('\nSurvived:')
  for (const { mutant } of survivors) print(`  ${placeOf(mutant)}  ${mutant.change}`)
  const percent = tested === 0 ? 100 : (100 * killed) / tested
  print(
    `\nSeed ${values.seed}: ${results.length} mutants, ${count('killed')} killed, ${count('timed out')} timed out, ` +
      `${count('does not compile')} stopped by the compiler alone, ${survivors.length} survived. ` +
      `Score: ${percent.toFixed(1)} % of ${tested}.`,
  )
}

if (values.help) {
  print(usage)
} else {
  const files = targetFiles(positionals)
  const everyMutant = () => files.flatMap((path) => mutantsOf(path, readFileSync(join(root, path), 'utf8')))
  const all: readonly Tried[] = values.named ? findNamedMutants() : everyMutant()
  const mutants = values.named ? all : drawn(all)
  print(`${files.length} files, ${all.length} mutants, ${mutants.length} of them drawn with seed ${values.seed}`)
  if (values.list) for (const mutant of mutants) print(`${placeOf(mutant)}  ${mutant.change}`)
  else {
    const results = await tryAll(mutants)
    summarise(results)
    if (values.named && results.some(({ fate }) => fate !== 'killed' && fate !== 'timed out')) process.exitCode = 1
  }
}
