import type { AloneTools, Sample } from './case.ts'
import { createAndConfirm } from './cases/pairs.ts'
import type { Measured, Results } from './figures.ts'
import { measureLoad } from './measure.ts'
import { postingReference } from './references/posting.ts'
import { memoryNow } from './stack/processes.ts'
import { compareBooks, Subject } from './stack/subject.ts'

const clients = 32
const quarterMinutes = 20
/** Those of the first two minutes. */
const early = 8

/**
 * Pairs on a fresh system, from its first request on: what costs more the longer a load lasts, or until a table has
 * statistics, shows in no short window. The reference runs before and after.
 */
export async function measureLasting({ options: given, ending, say, column, checkout }: AloneTools): Promise<Results> {
  say(`starting the system of ${checkout}`)
  const subject = await Subject.start(column, checkout, ending)
  const options = { ...given, windowMs: given.quarterMs, warmUpMs: 0 }
  const references = await postingReference({ options, systems: [subject], ending })
  const measureReferences = () => Promise.all(references.map((one) => one.measure()))
  const before = await measureReferences()
  const work = createAndConfirm(subject, await subject.players(options.players))
  const settings = { options, clients, processes: () => subject.processes() }
  const quarters: Sample[] = []
  while (quarters.length < quarterMinutes) {
    const quarter = await measureLoad(settings, work)
    quarters.push(quarter)
    const { perSecond = 0, p99Ms = 0 } = quarter.figures
    say(`lasting: ${quarters.length} of ${quarterMinutes}: ${perSecond.toFixed(0)}/s, p99 ${p99Ms.toFixed(0)} ms`)
  }
  const memoryAfter = memoryNow(subject.processes())
  const after = await measureReferences()
  const rates = quarters.map(({ figures }) => figures.perSecond ?? Number.NaN)
  const evenness = { figures: { worstToBest: Math.min(...rates) / Math.max(...rates) }, failures: {} }
  const measured = (id: string, title: string, shows: string, samples: readonly Sample[]): Measured => ({
    ...{ group: 'lasting', id, title, column, shows, samples },
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
  return { measured: all, books: [await compareBooks(subject, say)] }
}
