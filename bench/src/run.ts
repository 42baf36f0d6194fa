import type { Case, Column, Group, Sample, Setting } from './case.ts'
import { groups } from './cases/index.ts'
import { createAndConfirm } from './cases/pairs.ts'
import type { Books, Measured, Results } from './figures/results.ts'
import { fillClaims } from './fills/claims.ts'
import { recordDeposits } from './fills/deposits.ts'
import { fillLedger } from './fills/ledger.ts'
import { closedLoop } from './load/closed-loop.ts'
import type { Options } from './options.ts'
import { Subject } from './stack/subject.ts'

const settleClients = 32
const examplesMax = 5

/** Tells whoever waits what is going on. */
export type Say = (line: string) => void

/**
 * Starts the systems, measures group after group, and compares the books of every system at the end.
 * @param ending takes what must be stopped, also when the run is broken off
 */
export async function run(options: Options, ending: AsyncDisposableStack, say: Say): Promise<Results> {
  const subjects = await startAll(options, ending, say)
  for (const subject of subjects) await settle(subject, options)
  let filled: Promise<readonly Subject[]> | undefined
  const shared = {
    options,
    subjects,
    ending,
    filled: () => {
      filled ??= startFilled(options, ending, say)
      return filled
    },
  }
  const measured: Measured[] = []
  for (const group of chosen(options)) measured.push(...(await measureGroup(group, shared, say)))
  const books: Books[] = []
  for (const subject of subjects) books.push(await compareBooks(subject, { filled: false }, say))
  for (const subject of (await filled) ?? []) books.push(await compareBooks(subject, { filled: true }, say))
  return { measured, books }
}

function chosen({ only, openLoopRate }: Options): readonly Group[] {
  return groups
    .filter(({ name }) => only === undefined || only.includes(name))
    .filter(({ takesOpenLoop }) => openLoopRate === undefined || takesOpenLoop)
}

async function startAll(options: Options, ending: AsyncDisposableStack, say: Say): Promise<readonly Subject[]> {
  const checkouts: readonly (readonly [Column, string | undefined])[] = [
    ['this', options.checkout],
    ['before', options.against],
  ]
  const subjects: Subject[] = []
  for (const [column, checkout] of checkouts) {
    if (checkout === undefined) continue
    say(`starting the system of ${checkout}`)
    subjects.push(await Subject.start(column, { checkout, under: options.dir }, ending))
  }
  return subjects
}

async function startFilled(options: Options, ending: AsyncDisposableStack, say: Say): Promise<readonly Subject[]> {
  const subjects = await startAll(options, ending, say)
  for (const subject of subjects) {
    say(`filling a ledger with ${options.rows} rows and a gateway with ${options.claims} claims`)
    await fillLedger(subject, options.rows)
    await fillClaims(subject, options.claims)
    await settle(subject, options)
  }
  return subjects
}

/** The first requests of a process compile its code: they are nobody's figures. */
async function settle(subject: Subject, { players, settleMs }: Options): Promise<void> {
  const work = createAndConfirm(subject, await subject.players(players))
  await closedLoop({ clients: settleClients, warmUpMs: 0, windowMs: settleMs }, work)
}

async function measureGroup(group: Group, shared: Setting, say: Say): Promise<readonly Measured[]> {
  await using ending = new AsyncDisposableStack()
  // Also known to whoever breaks the run off, who does not wait for the end of a group.
  shared.ending.use(ending)
  say(`${group.name}: preparing`)
  const cases = await group.prepare({ ...shared, ending })
  const samples = new Map<Case, Sample[]>(cases.map((one) => [one, []]))
  for (let round = 1; round <= shared.options.rounds; round += 1) {
    say(`${group.name}: round ${round} of ${shared.options.rounds}`)
    // Every other round goes backwards: a machine that grows slower all the time then favours nobody.
    for (const one of round % 2 === 1 ? cases : cases.toReversed()) samples.get(one)?.push(await one.measure())
  }
  return cases.map((one) => ({ ...one, group: group.name, samples: samples.get(one) ?? [] }))
}

async function compareBooks(subject: Subject, { filled }: { readonly filled: boolean }, say: Say): Promise<Books> {
  say('comparing the books')
  await recordDeposits(subject)
  const { checks, differences, differencesTotal } = await subject.team.reconcile()
  return {
    column: subject.column,
    filled,
    compared: checks.reduce((sum, { compared }) => sum + compared, 0),
    differences: differencesTotal,
    examples: differences
      .slice(0, examplesMax)
      .map(({ check, subject, explanation }) => `${check}: ${subject}: ${explanation}`),
  }
}
