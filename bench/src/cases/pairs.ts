import { randomUUID } from 'node:crypto'
import type { Case, Group } from '../case.ts'
import type { Work } from '../load/load.ts'
import { bodyOf, post } from '../load/operator.ts'
import { clientsOf, measureLoad } from '../measure.ts'
import { postingReference } from '../references/posting-reference.ts'
import type { Subject } from '../stack/subject.ts'

const clientCounts = [1, 32, 128] as const

/** The path of most money: a deposit is created, then confirmed, and the wallet is credited before the reply. */
export const pairs: Group = {
  name: 'pairs',
  needs: ['plain'],
  takesOpenLoop: true,
  async prepare({ options, systems, ending }) {
    const cases: Case[] = []
    for (const subject of systems.plain) {
      const work = createAndConfirm(subject, await subject.players(options.players))
      // With arrivals at a fixed rate the number of clients means nothing.
      for (const clients of options.openLoopRate === undefined ? clientCounts : [0]) {
        const id = clients === 0 ? 'pairs' : `pairs-${clients}`
        cases.push({
          id,
          title: `create + confirm, ${clientsOf(options, clients)}`,
          column: subject.column,
          shows: clients === 1 ? 'p50Ms' : 'perSecond',
          measure: () => measureLoad({ options, clients, processes: () => subject.stack.processes() }, work),
        })
      }
    }
    if (options.openLoopRate !== undefined) return cases
    const reference = await postingReference({ options, systems, ending })
    return [...cases, reference.case('uniform')]
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
