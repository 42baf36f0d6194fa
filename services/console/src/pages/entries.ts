import {
  defined,
  entryCells,
  entryTitles,
  ledgerTypes,
  operations,
  Rejection,
  type Reply,
  seenOf,
} from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { factsOf, link, referenceColumn, rowSchema, rowsOf } from '../pieces/cells.ts'
import { choice, filterOf, periodFields, periodOf } from '../pieces/filters.ts'
import { csvOf, rowsPerRead, sendCsv } from '../pieces/listed.ts'
import { beforeOf, rowsOnPage, showCase, showList, showNotYours } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'

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

const readEntries = (visit: Visit, cursor: string | undefined, limit: number) => {
  const { params, person, query } = visit
  const type = ledgerTypes.find((known) => known === query.type)
  const filter = { ...defined({ type }), ...periodOf(visit), ...beforeOf(cursor) }
  return person.call(listEntries, { playerId: params.playerId ?? '', ...filter, limit })
}

async function showEntries(visit: Visit, player: Player): Promise<FastifyReply> {
  const { address, query, display } = visit
  const path = `${playerPath(player.id)}/entries`
  const list = { title: 'ledger', path, about: { name: player.name, href: address(playerPath(player.id)) } } as const
  if (!visit.person.mayCall(listEntries)) return showNotYours(visit, list, listEntries)
  const { data, nextCursor, available, withdrawable } = await readEntries(visit, query.after, rowsOnPage)
  const amount = (value: string) => display.money(value, player.currency)
  return showList(visit, {
    ...list,
    remark: display.t('balances', { available: amount(available), withdrawable: amount(withdrawable) }),
    filter: filterOf(visit, { list: 'entries', path, fields: [choice('type', ledgerTypes), ...periodFields] }),
    csv: `${path}.csv`,
    rows: rowsOf(
      listEntries.reply,
      data,
      ['createdAt', 'type', 'amount', 'balanceAfter', referenceColumn, 'by', 'reason'],
      (row) => address(pathOf(row)),
    ),
    nextCursor,
  })
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
      'by',
      'approvedBy',
      'createdAt',
      'effectiveAt',
      referenceColumn,
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
