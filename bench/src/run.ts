import type { AloneTools, Case, Column, Group, Sample, Say, Setting, Tools } from './case.ts'
import { deliveries } from './cases/deliveries.ts'
import { createAndConfirm, pairs } from './cases/pairs.ts'
import { me, wallet } from './cases/reads.ts'
import type { Books, Measured, Results } from './figures.ts'
import { measureLasting } from './lasting.ts'
import { closedLoop } from './load/load.ts'
import type { Options } from './options.ts'
import { measureRecovery } from './recovery.ts'
import { compareBooks, Subject } from './stack/subject.ts'

const firstLoadClients = 32

/** Measures what was chosen, one after the other, and compares the books of each system. */
export async function run(options: Options, ending: AsyncDisposableStack, say: Say): Promise<Results> {
  const chosen = groups.filter(({ name }) => options.only?.includes(name) ?? true)
  const tools = { options, ending, say }
  const results: Results[] = []
  if (chosen.length > 0) results.push(await measureGroups(chosen, tools))
  for (const [name, measure] of Object.entries(alone)) {
    if (options.only?.includes(name) ?? name === 'lasting')
      for (const [column, checkout] of checkoutsOf(options)) {
        await using ownEnding = new AsyncDisposableStack()
        ending.use(ownEnding)
        results.push(await measure({ options, say, ending: ownEnding, column, checkout }))
      }
  }
  return {
    measured: results.flatMap(({ measured }) => measured),
    books: results.flatMap(({ books }) => books),
    texts: Object.assign({}, ...results.toReversed().map(({ texts }) => texts)),
  }
}

type Checkout = readonly [column: Column, folder: string]
const checkoutsOf = ({ checkout, against }: Options): readonly Checkout[] => [
  ['this', checkout],
  ...(against === undefined ? [] : [['before', against] as const]),
]

/** What is measured on systems of its own, one checkout after the other: beside another, a system would be older. */
type Alone = (tools: AloneTools) => Promise<Results>
const alone: Readonly<Record<string, Alone>> = {
  lasting: measureLasting,
  recovery: measureRecovery,
}

async function measureGroups(chosen: readonly Group[], { options, ending, say }: Tools): Promise<Results> {
  await using ownEnding = new AsyncDisposableStack()
  // An interrupt disposes only of the outer stack, and does not wait for the end of the groups.
  ending.use(ownEnding)
  const systems: Subject[] = []
  for (const [column, checkout] of checkoutsOf(options)) {
    say(`starting the system of ${checkout}`)
    systems.push(await Subject.start(column, checkout, ownEnding))
  }
  for (const subject of systems) await runFirstLoad(subject, options)
  const measured: Measured[] = []
  for (const group of chosen)
    measured.push(...(await measureGroup(group, { options, systems, ending: ownEnding }, say)))
  const books: Books[] = []
  for (const subject of systems) books.push(await compareBooks(subject, say))
  return { measured, books }
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
    for (const one of round % 2 === 1 ? cases : otherWayRound(cases)) samples.get(one)?.push(await one.measure())
  }
  return cases.map((one) => ({ ...one, group: group.name, samples: samples.get(one) ?? [] }))
}

/**
 * The order of every other round. A system that has rested needs more processor time for some seconds, so two checkouts change
 * places, and rest equally: in reverse order the first would rest for four turns, the second for two.
 */
export const otherWayRound = <C extends Pick<Case, 'id' | 'column'>>(cases: readonly C[]): readonly C[] =>
  cases.some(({ column }) => column === 'before')
    ? cases.map((one) => cases.find(({ id, column }) => id === one.id && column !== one.column) ?? one)
    : cases.toReversed()

/** In the order in which they run. */
const groups: readonly Group[] = [pairs, wallet, me, deliveries]

/** What `--only` takes. */
export const groupNames: readonly string[] = [...groups.map(({ name }) => name), ...Object.keys(alone)]
