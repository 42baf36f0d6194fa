import type { Case, Group, Setting } from '../case.ts'
import type { Work } from '../load/load.ts'
import { get, type LoadOperator, post } from '../load/operator.ts'
import { measureLoad } from '../measure.ts'
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
      cases.push(readCase(setting, subject, { id: 'wallet', what: 'GET wallet', work: readWallets(subject, players) }))
    }
    for (const subject of setting.systems.plain) {
      const work = await replays(subject, setting.options)
      cases.push(readCase(setting, subject, { id: 'replay', what: 'replay of a creation', work }))
    }
    return [...cases, await echoReference(setting, { clients })]
  },
}

/** What every signed request costs in the gateway, compared with the same reply from Fastify alone. */
export const me: Group = {
  name: 'me',
  needs: ['plain'],
  async prepare(setting) {
    const cases = setting.systems.plain.map((subject) =>
      readCase(setting, subject, {
        id: 'me',
        what: 'GET /me',
        work: expecting(subject.operator, () => get('/me'), 200),
      }),
    )
    return [...cases, await bareReference(setting, { clients })]
  },
}

function readCase(
  { options }: Setting,
  { column, stack }: Subject,
  { id, what, work }: { readonly id: string; readonly what: string; readonly work: Work },
): Case {
  return {
    id,
    title: `${what}, ${clients} clients`,
    column,
    shows: 'perSecond',
    measure: () => measureLoad({ options, clients, processes: () => stack.processes() }, work),
  }
}

const expecting =
  (operator: LoadOperator, call: () => ReturnType<typeof get>, status: number): Work =>
  async (client, load) => {
    await operator.measured(client, load, call(), status)
  }

function readWallets({ operator }: Subject, players: readonly string[]): Work {
  let turn = 0
  return expecting(
    operator,
    () => {
      turn += 1
      return get(`/players/${players[turn % players.length]}/wallet`)
    },
    200,
  )
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
