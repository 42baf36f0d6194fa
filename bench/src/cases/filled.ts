import { randomInt } from 'node:crypto'
import type { Case, Group } from '../case.ts'
import { filledPlayers } from '../fills.ts'
import type { Work } from '../load/load.ts'
import { get, post } from '../load/operator.ts'
import { loadCase } from '../measure.ts'
import type { Subject } from '../stack/subject.ts'

const readers = 4
const pageEntries = 50
/** The largest page allowed, so that few requests find the places to read from. */
const walkEntries = 200

/** A page of a long statement must cost as much as a page of a short one, wherever it is. */
export const statement: Group = {
  name: 'statement',
  needs: ['filled'],
  async prepare(setting) {
    const cases: Case[] = []
    for (const subject of setting.systems.filled) {
      for (const [name, playerId] of Object.entries(filledPlayers)) {
        const work = readPages(subject, playerId, await placesIn(subject, playerId))
        const title = `statement page, ${name} account of a ledger of ${setting.options.rows} rows`
        const load = { id: `statement-${name}`, title, clients: readers, shows: 'p99Ms' }
        cases.push(loadCase(setting, subject, load, work))
      }
    }
    return cases
  },
}

/** The cursors of a whole statement, newest entries first. Cursors are opaque, so all pages are read to collect them. */
async function placesIn({ operator }: Subject, playerId: string): Promise<readonly string[]> {
  const places = ['']
  for (;;) {
    const path = `/players/${playerId}/transactions?limit=${walkEntries}${places.at(-1)}`
    const { nextCursor } = await operator.ask(0, get(path), 200)
    if (nextCursor === null) return places
    places.push(`&cursor=${encodeURIComponent(String(nextCursor))}`)
  }
}

/** Pages from anywhere in the statement, with equal probability. */
function readPages({ operator }: Subject, playerId: string, places: readonly string[]): Work {
  return async (client, load) => {
    const place = places[randomInt(places.length)]
    await operator.measured(client, load, get(`/players/${playerId}/transactions?limit=${pageEntries}${place}`), 200)
  }
}

const clients = 32

/**
 * The cost of a claim alone. An invalid body is refused after its key was claimed, and the refusal is stored under the key,
 * so only the gateway has work to do.
 */
export const claims: Group = {
  name: 'claims',
  needs: ['plain', 'filled'],
  async prepare(setting) {
    const { plain, filled } = setting.systems
    const beside = (stored: number, id: string) => (subject: Subject) => {
      const title = `claim, ${clients} clients, beside ${stored} stored claims`
      return loadCase(setting, subject, { id, title, clients }, async (client, load) => {
        await subject.operator.measured(client, load, post('/players', {}), 422)
      })
    }
    return [
      ...plain.map(beside(0, 'claims-among-none')),
      ...filled.map(beside(setting.options.claims, 'claims-among-many')),
    ]
  },
}
