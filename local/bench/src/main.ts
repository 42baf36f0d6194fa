import { Progress } from '@backoffice/process/progress'
import { createAndConfirm, groups } from './cases.ts'
import { type Books, type Case, isSound, type Measured, type Results, type Sample } from './figures.ts'
import { closedLoop, measureLoad } from './load.ts'
import { type AloneTools, type Options, parseOptions, usage } from './options.ts'
import { postingReference } from './posting.ts'
import { memoryNow } from './processes.ts'
import { measureRecovery } from './recovery.ts'
import { describeRun, writeFigures, writeReport } from './report.ts'
import { compareBooks, type Subject, startSubject } from './subject.ts'

const clients = 32
const quarterMinutes = 20
/** Those of the first two minutes. */
const early = 8

/**
 * Pairs on a fresh system, from its first request on: what costs more the longer a load lasts, or until a table has
 * statistics, shows in no short window. The reference runs before and after.
 */
async function measureLasting({ options: given, ending, say, column, checkout }: AloneTools): Promise<Results> {
  say(`starting the system of ${checkout}`)
  const subject = await startSubject(column, checkout, ending)
  const options = { ...given, windowMs: given.quarterMs, warmUpMs: 0 }
  const references = await postingReference(subject, options, ending)
  const measureReferences = () => Promise.all(references.map((one) => one.measure()))
  const before = await measureReferences()
  const work = await createAndConfirm(subject, options.players)
  const quarters: Sample[] = []
  while (quarters.length < quarterMinutes) {
    quarters.push(await measureLoad({ options, clients, processes: () => subject.processes() }, work))
    const { perSecond = 0, p99Ms = 0 } = quarters.at(-1)?.figures ?? {}
    say(`lasting: ${quarters.length} of ${quarterMinutes}: ${perSecond.toFixed(0)}/s, p99 ${p99Ms.toFixed(0)} ms`)
  }
  const memoryAfter = { figures: memoryNow(subject.processes()), failures: {} }
  const after = await measureReferences()
  const rates = quarters.map(({ figures }) => figures.perSecond ?? Number.NaN)
  const evenness = { figures: { worstToBest: Math.min(...rates) / Math.max(...rates) }, failures: {} }
  const measured = (id: string, title: string, shows: string, samples: readonly Sample[]): Measured => ({
    ...{ id, title, column, shows, samples },
  })
  const title = `create + confirm from fresh, ${clients} clients`
  const all = [
    measured('memory-idle', 'memory of the services, at rest', 'pssMiB', [subject.idleMemory]),
    measured('memory-deposits', 'memory of the services, after five minutes', 'pssMiB', [memoryAfter]),
    measured('lasting', `${title}, quarter minutes`, 'perSecond', quarters),
    measured('lasting-late', `${title}, minutes 3 to 5`, 'perSecond', quarters.slice(early)),
    measured('evenness', `${title}, worst ÷ best quarter minute`, 'worstToBest', [evenness]),
    ...references.map(({ title }) => measured('sql-lasting', title, 'perSecond', [...before, ...after])),
  ]
  return { measured: all, books: [await compareBooks(subject)] }
}

/** What is measured on systems of its own, one checkout after the other: beside another, a system would be older. */
const alone: Readonly<Record<string, (tools: AloneTools) => Promise<Results>>> = {
  lasting: measureLasting,
  recovery: measureRecovery,
}

/** What `--only` takes. */
export const groupNames: readonly string[] = [...Object.keys(groups), ...Object.keys(alone)]

type Tools = Pick<AloneTools, 'options' | 'ending' | 'say' | 'progress'>

/** Measures what was chosen, one after the other, and compares the books of each system. */
export async function run({ options, ending, say, progress }: Tools): Promise<Results> {
  const isChosen = (name: string) => options.only?.includes(name) ?? name !== 'recovery'
  const results: Results[] = []
  /** An interrupt disposes only of the outer stack, and does not wait for the end of a part. */
  const part = async (measure: (ending: AsyncDisposableStack) => Promise<Results>) => {
    await using ownEnding = new AsyncDisposableStack()
    ending.use(ownEnding)
    results.push(await measure(ownEnding))
  }
  const chosen = Object.keys(groups).filter(isChosen)
  if (chosen.length > 0) await part((ending) => measureGroups(chosen, { options, ending, say, progress }))
  for (const [name, measure] of Object.entries(alone)) {
    if (!isChosen(name)) continue
    for (const [column, checkout] of checkoutsOf(options)) {
      progress.at(name)
      await part((ending) => measure({ options, say, progress, ending, column, checkout }))
    }
  }
  return {
    measured: results.flatMap(({ measured }) => measured),
    books: results.flatMap(({ books }) => books),
    texts: Object.assign({}, ...results.toReversed().map(({ texts }) => texts)),
  }
}

const checkoutsOf = ({ checkout, against }: Options) => [
  ['this', checkout] as const,
  ...(against === undefined ? [] : [['before', against] as const]),
]

async function measureGroups(chosen: readonly string[], { options, ending, say, progress }: Tools): Promise<Results> {
  const systems: Subject[] = []
  for (const [column, checkout] of checkoutsOf(options)) {
    say(`starting the system of ${checkout}`)
    const subject = await startSubject(column, checkout, ending)
    systems.push(subject)
    // The first requests of a process compile its code.
    const work = await createAndConfirm(subject, options.players)
    await closedLoop({ clients, warmUpMs: 0, windowMs: options.firstLoadMs }, work)
  }
  const measured: Measured[] = []
  for (const [index, name] of chosen.entries()) {
    const atRound = (round: number) =>
      progress.at(
        `${name}, round ${round} of ${options.rounds}`,
        (index + (round - 1) / options.rounds) / chosen.length,
      )
    measured.push(...(await measureGroup(name, systems, { options, ending, say, atRound })))
  }
  say('comparing the books')
  const books: Books[] = []
  for (const subject of systems) books.push(await compareBooks(subject))
  return { measured, books }
}

interface GroupTools extends Omit<Tools, 'progress'> {
  readonly atRound: (round: number) => void
}

async function measureGroup(
  name: string,
  systems: readonly Subject[],
  { options, ending: outer, say, atRound }: GroupTools,
) {
  await using ending = new AsyncDisposableStack()
  outer.use(ending)
  say(`${name}: preparing`)
  const [first, ...others] = systems
  const cases =
    first === undefined ? [] : ((await groups[name]?.({ options, systems: [first, ...others], ending })) ?? [])
  const samples = new Map<Case, Sample[]>(cases.map((one) => [one, []]))
  for (let round = 1; round <= options.rounds; round += 1) {
    say(`${name}: round ${round} of ${options.rounds}`)
    atRound(round)
    for (const one of round % 2 === 1 ? cases : otherWayRound(cases)) samples.get(one)?.push(await one.measure())
  }
  return cases.map((one) => ({ ...one, samples: samples.get(one) ?? [] }))
}

/**
 * The order of every other round. A system that has rested needs more processor time for some seconds, so two checkouts change
 * places, and rest equally: in reverse order the first would rest for four turns, the second for two.
 */
const otherWayRound = (cases: readonly Case[]): readonly Case[] =>
  cases.some(({ column }) => column === 'before')
    ? cases.map((one) => cases.find(({ id, column }) => id === one.id && column !== one.column) ?? one)
    : cases.toReversed()

async function main(args: readonly string[], ending: AsyncDisposableStack): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(`${usage(groupNames)}\n`)
    return 0
  }
  const options = parseOptions(args, groupNames)
  const description = await describeRun(options)
  using progress = new Progress('bench')
  const say = (line: string) => progress.above(() => process.stderr.write(`${line}\n`))
  const results = await run({ options, ending, say, progress })
  await ending.disposeAsync()
  process.stdout.write(writeReport(results, options, description))
  if (options.write) writeFigures(results, description)
  return isSound(results) ? 0 : 1
}

if (import.meta.main) {
  const ending = new AsyncDisposableStack()
  let interrupted = false
  // What was started is stopped however the run ends: servers left running would disturb the next run.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (interrupted) return
      interrupted = true
      void ending.disposeAsync().finally(() => process.exit(130))
    })
  }
  try {
    process.exitCode = await main(process.argv.slice(2), ending)
  } catch (error) {
    if (!interrupted) {
      await ending.disposeAsync().catch(() => {})
      process.stderr.write(`\n${(error as Error).message}\n`)
      process.exitCode = 1
    }
  }
}
