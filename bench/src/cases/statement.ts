import { randomInt } from 'node:crypto'
import type { Case, Group } from '../case.ts'
import { filledPlayers } from '../fills/ledger.ts'
import type { Work } from '../load/load.ts'
import { get } from '../load/operator.ts'
import { measureLoad } from '../measure.ts'
import type { Subject } from '../stack/subject.ts'

const clients = 4
const pageEntries = 50
/** The largest page there is: the walk that finds the places to read from takes fewest of them. */
const walkEntries = 200

/** A page of a long statement must cost what a page of a short one costs, however deep in it. */
export const statement: Group = {
  name: 'statement',
  needs: ['filled'],
  takesOpenLoop: false,
  async prepare({ options, systems }) {
    const cases: Case[] = []
    for (const subject of systems.filled) {
      for (const [name, playerId] of Object.entries(filledPlayers)) {
        const work = readPages(subject, playerId, await placesIn(subject, playerId))
        cases.push({
          id: `statement-${name}`,
          title: `statement page, ${name} account of a ledger of ${options.rows} rows`,
          column: subject.column,
          shows: 'p99Ms',
          measure: () => measureLoad({ options, clients, processes: () => subject.stack.processes() }, work),
        })
      }
    }
    return cases
  },
}

/** The cursors of a whole statement, from its newest entries to its oldest. They are opaque, so they are walked to. */
async function placesIn({ operator }: Subject, playerId: string): Promise<readonly string[]> {
  const places = ['']
  for (;;) {
    const path = `/players/${playerId}/transactions?limit=${walkEntries}${places.at(-1)}`
    const { nextCursor } = await operator.ask(0, get(path), 200)
    if (nextCursor === null) return places
    places.push(`&cursor=${encodeURIComponent(String(nextCursor))}`)
  }
}

/** Pages from anywhere in the statement, its beginning and its depth alike. */
function readPages({ operator }: Subject, playerId: string, places: readonly string[]): Work {
  return async (client, load) => {
    const place = places[randomInt(places.length)]
    await operator.measured(client, load, get(`/players/${playerId}/transactions?limit=${pageEntries}${place}`), 200)
  }
}
