import { entryCells, entryTitles, operations, Rejection, type Reply, seenOf } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { type Cell, factsOf, link, rowSchema, text } from '../pieces/cells.ts'
import { filterGiven, readList, showListed } from '../pieces/list-page.ts'
import { csvOf, rowsPerRead, sendCsv } from '../pieces/listed.ts'
import { showCase } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'
import { roundPath } from './rounds.ts'

const { showPlayer } = operations.players
const { listEntries, reverseTransfer } = operations.wallet

type Player = Reply<typeof showPlayer>
type Entry = Reply<typeof listEntries>['data'][number]

/** The ledger of one player, and one entry of it, which can be taken back. */
export const entryPages: Pages = (route) => {
  route.get('/players/:playerId/entries.csv', async (visit) => {
    const { id, environment } = await findPlayer(visit)
    if (environment !== visit.environment) throw new Rejection('PLAYER_NOT_FOUND')
    // In the columns of the statement.
    const read = (cursor: string | undefined) => readEntries(visit, cursor, rowsPerRead)
    return sendCsv(visit, `entries-${id}`, csvOf(entryTitles, read, entryCells))
  })
  pageWithForms(route, '/players/:playerId/entries', {
    find: findPlayer,
    pathOf: ({ id }) => `${playerPath(id)}/entries`,
    environmentOf: ({ environment }) => environment,
    show: showEntries,
  })
  pageWithForms(route, '/players/:playerId/entries/:transferId', {
    find: async (visit) => ({ player: await findPlayer(visit), entry: await findEntry(visit) }),
    pathOf: ({ entry }) => pathOf(entry),
    environmentOf: ({ player }) => player.environment,
    show: showEntry,
    decisionOf: (visit, { entry }, name) => (name === 'reverse' ? reverseOf(visit, entry) : undefined),
  })
}

const playerPath = (playerId: string): string => `/players/${playerId}`
const pathOf = ({ playerId, transferId }: Entry): string => `${playerPath(playerId)}/entries/${transferId}`

const findPlayer = ({ person, params }: Visit): Promise<Player> =>
  person.call(showPlayer, { playerId: params.playerId ?? '' })

const readEntries = async (visit: Visit, cursor: string | undefined, limit: number) => {
  const { asked } = await filterGiven(visit, lists.entries)
  return readList(visit, lists.entries, { ...asked, playerId: visit.params.playerId ?? '' }, { cursor, limit })
}

function showEntries(visit: Visit, player: Player): Promise<FastifyReply> {
  const { address, display } = visit
  const amount = (value: string) => display.money(value, player.currency)
  const path = `${playerPath(player.id)}/entries`
  return showListed(visit, {
    list: lists.entries,
    title: 'ledger',
    path,
    fixed: { playerId: player.id },
    about: { name: player.name, href: address(playerPath(player.id)) },
    cells: () => ({ reference: (entry) => referenceCell(visit, entry) }),
    frame: (_visit, _asked, { available, withdrawable }) => ({
      remark: display.t('balances', { available: amount(available), withdrawable: amount(withdrawable) }),
      csv: `${path}.csv`,
    }),
  })
}

/** What an entry belongs to, of which its kind says what it is. Of play, the round has all that was staked and won in it. */
export function referenceCell(
  { address, display }: Visit,
  { reference: { type, id } }: Pick<Entry, 'reference'>,
): Cell {
  if (type === 'round') return link(display.t('roundShort', { end: id.slice(-4) }), address(roundPath(id)))
  return type === 'deposit' || type === 'withdrawal' ? link(id, address(`/${type}s/${id}`)) : text(id)
}

async function findEntry({ person, params }: Visit): Promise<Entry> {
  const { playerId = '', transferId = '' } = params
  const { data } = await person.call(listEntries, { playerId, transferId, limit: 1 })
  const [entry] = data
  if (entry === undefined) throw new Rejection('TRANSFER_NOT_FOUND')
  return entry
}

/** One ledger entry, and the form that takes it back. */
function showEntry(visit: Visit, { player, entry }: { player: Player; entry: Entry }, sent?: SentForm): FastifyReply {
  const list = visit.address(playerPath(player.id))
  return showCase(visit, {
    path: pathOf(entry),
    title: visit.display.money(entry.amount, entry.currency),
    about: player.name,
    list,
    facts: factsOf(rowSchema(listEntries.reply), entry, [
      'type',
      'amount',
      'balanceAfter',
      ['player', () => link(player.name, list)],
      'reason',
      // Of what the team did.
      ...(['by', 'approvedBy'] as const).filter((field) => entry[field] !== null),
      'createdAt',
      'effectiveAt',
      ['reference', (row) => referenceCell(visit, row)],
      'reversesTransferId',
      'transferId',
      'id',
    ]),
    decisions: [reverseOf(visit, entry)],
    decisionsTitle: 'actions',
    sent,
  })
}

function reverseOf({ display }: Visit, entry: Entry): Decision {
  const { amount, currency, playerId, transferId } = entry
  const words = { amount: display.money(amount, currency) }
  return {
    name: 'reverse',
    label: 'reverse',
    operation: reverseTransfer,
    fixed: { playerId, transferId, seen: seenOf(reverseTransfer, entry) },
    ask: display.t('reverseAsk', words),
    done: `${display.word('operation', reverseTransfer.id)}: ${words.amount}`,
    tone: 'bad',
  }
}
