import type { Case, Group, Setting } from '../case.ts'
import type { Work } from '../load/load.ts'
import { get, type LoadOperator, post } from '../load/operator.ts'
import { loadCase } from '../measure.ts'
import { bareReference, echoReference } from '../references/http-references.ts'
import type { Subject } from '../stack/subject.ts'

const clients = 32
const preparationsAtOnce = 16

/** A read (one call and one query) and a replay (the claim's query only), compared with a call without a database. */
export const wallet: Group = {
  name: 'wallet',
  needs: ['plain'],
  async prepare(setting) {
    const cases: Case[] = []
    for (const subject of setting.systems.plain) {
      const players = await subject.players(setting.options.players)
      const load = { id: 'wallet', title: `GET wallet, ${clients} clients`, clients }
      cases.push(loadCase(setting, subject, load, readWallets(subject, players)))
    }
    for (const subject of setting.systems.plain) {
      const work = await replays(subject, setting.options)
      const load = { id: 'replay', title: `replay of a creation, ${clients} clients`, clients }
      cases.push(loadCase(setting, subject, load, work))
    }
    return [...cases, await echoReference(setting, clients)]
  },
}

/** What every signed request costs in the gateway, compared with the same reply from Fastify alone. */
export const me: Group = {
  name: 'me',
  needs: ['plain'],
  async prepare(setting) {
    const load = { id: 'me', title: `GET /me, ${clients} clients`, clients }
    const cases = setting.systems.plain.map((subject) =>
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

/** Creations whose replies are stored. Every further request under their keys must be marked as a replay. */
async function replays(subject: Subject, options: Setting['options']): Promise<Work> {
  const { operator } = subject
  const ids = await subject.players(options.players)
  const creations = Array.from({ length: options.replayedKeys }, (_, index) =>
    post(`/players/${ids[index % ids.length]}/deposits`, {
      amount: '1.00',
      currency: 'BRL',
      method: 'pix',
      externalReference: `replayed-${index}`,
    }),
  )
  const left = [...creations]
  const prepare = async (client: number) => {
    for (let call = left.pop(); call !== undefined; call = left.pop()) await operator.ask(client, call, 201)
  }
  await Promise.all(Array.from({ length: preparationsAtOnce }, (_, client) => prepare(client)))
  let turn = 0
  return async (client, load) => {
    turn += 1
    const call = creations[turn % creations.length]
    const reply = call === undefined ? undefined : await operator.measured(client, load, call, 201)
    if (reply !== undefined && !/\r\nidempotent-replayed: true/i.test(reply.head)) load.failed('not a replay')
  }
}
