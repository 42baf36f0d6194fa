import type { Case, Column, Group, Sample, Setting, SystemKind } from './case.ts'
import { blackHole, deliveries } from './cases/deliveries.ts'
import { claims, statement } from './cases/filled.ts'
import { createAndConfirm, memory, pairs } from './cases/pairs.ts'
import { postings } from './cases/postings.ts'
import { me, wallet } from './cases/reads.ts'
import type { Books, Measured, Results } from './figures.ts'
import { fillClaims, fillLedger, recordDeposits } from './fills.ts'
import { closedLoop } from './load/load.ts'
import type { Options } from './options.ts'
import { Subject } from './stack/subject.ts'

const firstLoadClients = 32
const examplesMax = 5

/** Prints a line of progress. */
type Say = (line: string) => void

interface Tools {
  readonly options: Options
  /** Stops what was started, also when the run is interrupted. */
  readonly ending: AsyncDisposableStack
  readonly say: Say
}

/** Measures the chosen groups one after another, and compares the books of each system. */
export async function run(options: Options, ending: AsyncDisposableStack, say: Say): Promise<Results> {
  const chosen = groups.filter(({ name }) => options.only === undefined || options.only.includes(name))
  const onFilled = (group: Group) => group.needs.includes('filled')
  const tools = { options, ending, say }
  const results: Results[] = []
  // The two parts run one after the other: an idle system still uses some of a small machine, and a system that is
  // compared with a filled one must be equally new.
  for (const part of [chosen.filter((group) => !onFilled(group)), chosen.filter(onFilled)]) {
    if (part.length > 0) results.push(await measurePart(part, tools))
  }
  return { measured: results.flatMap(({ measured }) => measured), books: results.flatMap(({ books }) => books) }
}

async function measurePart(part: readonly Group[], { options, ending, say }: Tools): Promise<Results> {
  await using partEnding = new AsyncDisposableStack()
  // An interrupt disposes only of the outer stack, and does not wait for the end of a part.
  ending.use(partEnding)
  const tools = { options, ending: partEnding, say }
  const needed = (kind: SystemKind) => part.some(({ needs }) => needs.includes(kind))
  const systems = {
    plain: needed('plain') ? await startSystems('plain', tools) : [],
    filled: needed('filled') ? await startSystems('filled', tools) : [],
  }
  const measured: Measured[] = []
  for (const group of part) measured.push(...(await measureGroup(group, { options, systems, ending: partEnding }, say)))
  const books: Books[] = []
  for (const kind of ['plain', 'filled'] as const) {
    for (const subject of systems[kind]) books.push(await compareBooks(subject, kind, say))
  }
  return { measured, books }
}

/** One system for each checkout. */
async function startSystems(kind: SystemKind, { options, ending, say }: Tools): Promise<readonly Subject[]> {
  const checkouts: readonly (readonly [Column, string | undefined])[] = [
    ['this', options.checkout],
    ['before', options.against],
  ]
  const subjects: Subject[] = []
  for (const [column, checkout] of checkouts) {
    if (checkout === undefined) continue
    say(`starting the system of ${checkout}`)
    const subject = await Subject.start(column, { checkout, under: options.dir }, ending)
    if (kind === 'filled') await fill(subject, options, say)
    subjects.push(subject)
  }
  for (const subject of subjects) await runFirstLoad(subject, options)
  return subjects
}

async function fill(subject: Subject, { rows, claims }: Options, say: Say): Promise<void> {
  say(`filling a ledger with ${rows} rows and a gateway with ${claims} claims`)
  await fillLedger(subject, rows)
  await fillClaims(subject, claims)
}

/** Puts load on a system without measuring it: the first requests of a process compile its code. */
async function runFirstLoad(subject: Subject, { players, firstLoadMs }: Options): Promise<void> {
  const work = createAndConfirm(subject, await subject.players(players))
  await closedLoop({ clients: firstLoadClients, warmUpMs: 0, windowMs: firstLoadMs }, work)
}

async function measureGroup(group: Group, shared: Setting, say: Say): Promise<readonly Measured[]> {
  await using ending = new AsyncDisposableStack()
  shared.ending.use(ending)
  say(`${group.name}: preparing`)
  const cases = await group.prepare({ ...shared, ending })
  const samples = new Map<Case, Sample[]>(cases.map((one) => [one, []]))
  for (let round = 1; round <= shared.options.rounds; round += 1) {
    say(`${group.name}: round ${round} of ${shared.options.rounds}`)
    // Every other round runs in reverse order, so that a machine that slows down steadily favours no case.
    for (const one of round % 2 === 1 ? cases : cases.toReversed()) samples.get(one)?.push(await one.measure())
  }
  return cases.map((one) => ({ ...one, group: group.name, samples: samples.get(one) ?? [] }))
}

async function compareBooks(subject: Subject, system: SystemKind, say: Say): Promise<Books> {
  say('comparing the books')
  const { column } = subject
  await recordDeposits(subject)
  // An hour of figures is not lost because a checkout cannot judge its own books.
  const report = await subject.team.reconcile().catch((error: Error) => error)
  if (report instanceof Error)
    return { column, system, compared: 0, differences: 1, examples: [`the reconciliation ended: ${report.message}`] }
  const { checks, differences, differencesTotal } = report
  return {
    column,
    system,
    compared: checks.reduce((sum, { compared }) => sum + compared, 0),
    differences: differencesTotal,
    examples: differences
      .slice(0, examplesMax)
      .map(({ check, subject, explanation }) => `${check}: ${subject}: ${explanation}`),
  }
}

/** In the order in which they run. Groups that need a filled system are last, because it is started for them. */
export const groups: readonly Group[] = [memory, pairs, wallet, me, postings, deliveries, blackHole, statement, claims]
