import { randomUUID } from 'node:crypto'
import type { Case, Group, Sample } from '../case.ts'
import { closedLoop, type Work } from '../load/load.ts'
import { bodyOf, post } from '../load/operator.ts'
import { loadCase } from '../measure.ts'
import type { Options } from '../options.ts'
import { postingReference } from '../references/posting.ts'
import { memoryNow, peakOf } from '../stack/processes.ts'
import type { Subject } from '../stack/subject.ts'

const clientCounts = [1, 32, 128] as const

/** The path of most money: a deposit is created, then confirmed, and the wallet is credited before the reply. */
export const pairs: Group = {
  name: 'pairs',
  needs: ['plain'],
  async prepare(setting) {
    const cases: Case[] = []
    for (const subject of setting.systems.plain) {
      const work = createAndConfirm(subject, await subject.players(setting.options.players))
      for (const clients of clientCounts) {
        const title = `create + confirm, ${clients} client${clients === 1 ? '' : 's'}`
        const shows = clients === 1 ? 'p50Ms' : 'perSecond'
        cases.push(loadCase(setting, subject, { id: `pairs-${clients}`, title, clients, shows }, work))
      }
    }
    const reference = await postingReference(setting)
    return [...cases, ...reference('uniform')]
  },
}

/** Another player each time, as in production: requests about the money of one player wait for each other. */
export function createAndConfirm({ operator }: Subject, players: readonly string[]): Work {
  let turn = 0
  return async (client, load) => {
    turn += 1
    const player = players[turn % players.length]
    const body = { amount: '1.00', currency: 'BRL', method: 'pix', externalReference: randomUUID() }
    const created = await operator.measured(client, load, post(`/players/${player}/deposits`, body), 201)
    if (created === undefined) return
    await operator.measured(client, load, post(`/deposits/${bodyOf(created).id}/confirm`, {}), 200)
  }
}

const clients = 128
const lookEveryMs = 250

/** Memory of the five services and the games: before the first request, and its maximum while deposits come in. */
export const memory: Group = {
  name: 'memory',
  needs: ['plain'],
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
  const readings = [memoryNow(subject.stack)]
  const looking = setInterval(() => readings.push(memoryNow(subject.stack)), lookEveryMs)
  try {
    const { failures } = await closedLoop({ clients, warmUpMs, windowMs }, work)
    return { figures: peakOf(readings), failures: Object.fromEntries(failures) }
  } finally {
    clearInterval(looking)
  }
}
