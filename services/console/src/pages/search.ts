import { operations, type Reply } from '@backoffice/contracts'
import { factsOf, rowSchema, type Shown, text as textCell } from './cells.ts'
import { rowsOnPage, showList } from './queue.ts'
import type { Pages } from './route.ts'
import type { Visit } from './visit.ts'

/** Where a record is shown, by the prefix of its id. */
const places: Readonly<Record<string, string>> = {
  wdr: 'withdrawals',
  dep: 'deposits',
  ply: 'players',
  op: 'operators',
  prp: 'proposals',
  dlv: 'deliveries',
  evt: 'deliveries',
}

/** The page of the record with this id. */
export function placeOf(id: string): string | undefined {
  const [, prefix = ''] = /^([a-z]+)_[\w-]+$/.exec(id) ?? []
  const place = places[prefix]
  return place === undefined ? undefined : `/${place}/${id}`
}

/** As the field in the header. */
const textLengthMax = 80

export const searchPages: Pages = (route) => {
  route.get('/search', async (visit) => {
    const text = visit.query.q?.trim().slice(0, textLengthMax) ?? ''
    const place = placeOf(text)
    if (place !== undefined) return visit.reply.redirect(visit.address(place), 303)
    const found = await playersNamed(visit, text)
    if (found.length > 0) return showList(visit, { title: 'players', rows: found, path: '/search' })
    return visit.reply.code(404).page('search', { environment: visit.environment, text }, { request: visit.request })
  })
}

const { searchPlayers } = operations.players
/** Shorter texts are no words of a name. */
const nameLengthMin = 2

/** By a name, or by the operator's own id. CPF and e-mail take a reason, so they are not searched for in passing. */
async function playersNamed(visit: Visit, text: string) {
  const { person, environment, address } = visit
  if (text.length < nameLengthMin || !person.mayCall(searchPlayers)) return []
  const given = { environment, limit: rowsOnPage }
  const pages = await Promise.all([
    person.call(searchPlayers, { ...given, externalId: text }),
    person.call(searchPlayers, { ...given, name: text }),
  ])
  const players = new Map(pages.flatMap(({ data }) => data).map((player) => [player.id, player]))
  const columns: readonly Shown<Reply<typeof searchPlayers>['data'][number]>[] = [
    'name',
    ['operator', ({ operatorId, operatorName }) => textCell(operatorName ?? operatorId)],
    'externalId',
    'status',
    'kycStatus',
    'createdAt',
  ]
  return [...players.values()].map((player) => ({
    href: address(`/players/${player.id}`),
    cells: factsOf(rowSchema(searchPlayers.reply), player, columns),
  }))
}
