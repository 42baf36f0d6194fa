import type { Group, Sample } from '../case.ts'
import { closedLoop } from '../load/closed-loop.ts'
import type { Options } from '../options.ts'
import { PeakMemory } from '../stack/peak-memory.ts'
import type { Subject } from '../stack/subject.ts'
import { createAndConfirm } from './pairs.ts'

const clients = 128
const lookEveryMs = 250

/** Memory of the five services and the games: before the first request, and its maximum while deposits come in. */
export const memory: Group = {
  name: 'memory',
  needs: ['plain'],
  takesOpenLoop: false,
  async prepare({ options, systems }) {
    return systems.plain.flatMap((subject) => [
      {
        id: 'memory-idle',
        title: 'memory of the services, idle',
        column: subject.column,
        shows: 'rssMiB',
        // The system starts once, so there is one figure.
        measure: async () => subject.idleMemory,
      },
      {
        id: 'memory-deposits',
        title: `memory of the services, ${clients} clients depositing`,
        column: subject.column,
        shows: 'rssMiB',
        measure: () => memoryUnderDeposits(subject, options),
      },
    ])
  },
}

async function memoryUnderDeposits(subject: Subject, options: Options): Promise<Sample> {
  const { players, warmUpMs, windowMs } = options
  const work = createAndConfirm(subject, await subject.players(players))
  const peak = new PeakMemory(subject.stack)
  const looking = setInterval(() => peak.look(), lookEveryMs)
  try {
    const { failures } = await closedLoop({ clients, warmUpMs, windowMs }, work)
    return peak.sample(failures)
  } finally {
    clearInterval(looking)
  }
}
