import type { Case, Group } from '../case.ts'
import { depositsOfPlayer, fillDeposits, filledPlayer } from '../fills.ts'
import type { Work } from '../load/load.ts'
import { get, type LoadOperator } from '../load/operator.ts'
import { loadCase } from '../measure.ts'
import { bareReference, echoReference } from '../references/http-references.ts'
import type { Subject } from '../stack/subject.ts'

const clients = 32
const pageEntries = 50
/** The players whose statements are read, each of 100 entries, among as many entries as this. */
const [pagePlayers, pageRows] = [50, 100_000]

/** Reads, of one call and one query, compared with a call without a database. */
export const wallet: Group = {
  name: 'wallet',
  async prepare(setting) {
    const cases: Case[] = []
    for (const subject of setting.systems) {
      const players = await subject.players(setting.options.players)
      const load = { id: 'wallet', title: `GET wallet, ${clients} clients`, clients }
      cases.push(loadCase(setting, subject, load, readWallets(subject, players)))
    }
    for (const subject of setting.systems) {
      await fillDeposits(subject, setting.options.short ? pagePlayers * depositsOfPlayer : pageRows)
      const load = { id: 'page', title: `page of ${pageEntries} transactions, ${clients} clients`, clients }
      cases.push(loadCase(setting, subject, load, readPages(subject)))
    }
    return [...cases, await echoReference(setting, clients)]
  },
}

/** What every signed request costs in the gateway, compared with the same reply from Fastify alone. */
export const me: Group = {
  name: 'me',
  async prepare(setting) {
    const load = { id: 'me', title: `GET /me, ${clients} clients`, clients }
    const cases = setting.systems.map((subject) =>
      loadCase(
        setting,
        subject,
        load,
        expecting(subject.operator, () => get('/me')),
      ),
    )
    return [...cases, await bareReference(setting, clients)]
  },
}

const expecting =
  (operator: LoadOperator, call: () => ReturnType<typeof get>): Work =>
  async (client, load) => {
    await operator.measured(client, load, call(), 200)
  }

function readWallets({ operator }: Subject, players: readonly string[]): Work {
  let turn = 0
  return expecting(operator, () => {
    turn += 1
    return get(`/players/${players[turn % players.length]}/wallet`)
  })
}

/** The newest page of a statement. */
function readPages({ operator }: Subject): Work {
  let turn = 0
  return expecting(operator, () => {
    turn += 1
    return get(`/players/${filledPlayer(turn % pagePlayers)}/transactions?limit=${pageEntries}`)
  })
}
