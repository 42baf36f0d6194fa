import { randomUUID } from 'node:crypto'
import type { Case, Group } from '../case.ts'
import type { Work } from '../load/load.ts'
import { bodyOf, post } from '../load/operator.ts'
import { loadCase } from '../measure.ts'
import { postingReference } from '../references/posting.ts'
import type { Subject } from '../stack/subject.ts'

const clientCounts = [1, 32, 128] as const

/** The path of most money: a deposit is created, then confirmed, and the wallet is credited before the reply. */
export const pairs: Group = {
  name: 'pairs',
  async prepare(setting) {
    const cases: Case[] = []
    for (const subject of setting.systems) {
      const work = createAndConfirm(subject, await subject.players(setting.options.players))
      for (const clients of clientCounts) {
        const title = `create + confirm, ${clients} client${clients === 1 ? '' : 's'}`
        const shows = clients === 1 ? 'operationP50Ms' : 'perSecond'
        cases.push(loadCase(setting, subject, { id: `pairs-${clients}`, title, clients, shows }, work))
      }
    }
    return [...cases, ...(await postingReference(setting))]
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
