import {
  entryCells,
  entryTitles,
  type Input,
  ledgerTypes,
  operations,
  Rejection,
  type Reply,
} from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { factsOf, link, rowSchema, type ShownColumn, text } from '../pieces/cells.ts'
import { notYours } from '../pieces/counts.ts'
import { choice, filterOf, periodFields, periodOf } from '../pieces/filters.ts'
import { type CsvRow, rowsPerRead, sendCsv } from '../pieces/listed.ts'
import { beforeOf, rowsOnPage, showCase, showList, showLists } from '../pieces/queue.ts'
import { type Decision, decide, type Pages, type SentForm, shownDecision, type Visit } from '../pieces/visit.ts'

const { showPlayer } = operations.players
const { listEntries, reverseTransfer } = operations.wallet

type Player = Reply<typeof showPlayer>
type Entry = Reply<typeof listEntries>['data'][number]

/** The ledger of one player, and one entry of it, which can be taken back. */
export const entryPages: Pages = (route) => {
  route.get('/players/:playerId/entries', showEntries)
  route.get('/players/:playerId/entries.csv', async (visit) => {
    const { id, environment } = await findPlayer(visit)
    if (environment !== visit.environment) throw new Rejection('PLAYER_NOT_FOUND')
    return sendCsv(visit, `entries-${id}`, allEntries(visit))
  })
  route.get('/players/:playerId/entries/:transferId', (visit) => showEntry(visit))
  route.post('/players/:playerId/entries/:transferId/reverse', async (visit) => {
    const entry = await findEntry(visit)
    return decide(visit, reverseOf(visit, entry), pathOf(entry), (sent) => showEntry(visit, sent))
  })
}

const playerPath = (playerId: string): string => `/players/${playerId}`
const pathOf = ({ playerId, transferId }: Entry): string => `${playerPath(playerId)}/entries/${transferId}`

const findPlayer = ({ person, params }: Visit): Promise<Player> =>
  person.call(showPlayer, { playerId: params.playerId ?? '' })

function filterGiven({ query, display, now }: Visit): Pick<Input<typeof listEntries>, 'type' | 'from' | 'to'> {
  const type = ledgerTypes.find((known) => known === query.type)
  return { ...(type === undefined ? {} : { type }), ...periodOf({ query, timeZone: display.timeZone, now }) }
}

const readEntries = (visit: Visit, cursor: string | undefined, limit: number) =>
  visit.person.call(listEntries, {
    playerId: visit.params.playerId ?? '',
    ...filterGiven(visit),
    ...beforeOf(cursor),
    limit,
  })

async function showEntries(visit: Visit): Promise<FastifyReply> {
  const { environment, address, query, display } = visit
  const player = await findPlayer(visit)
  const path = `${playerPath(player.id)}/entries`
  if (player.environment !== environment) return visit.reply.redirect(`/${player.environment}${path}`, 303)
  const list = {
    title: 'ledger' as const,
    path,
    about: { name: player.name, href: address(playerPath(player.id)) },
  }
  if (!visit.person.mayCall(listEntries)) return showLists(visit, { ...list, ...notYours(visit, listEntries) })
  const { data, nextCursor, available, withdrawable } = await readEntries(visit, query.after, rowsOnPage)
  const amount = (value: string) => display.money(value, player.currency)
  const columns: readonly ShownColumn<Entry>[] = [
    'createdAt',
    'type',
    'amount',
    'balanceAfter',
    ['reference', ({ reference }) => text(`${reference.type} ${reference.id}`)],
    'reason',
  ]
  return showList(visit, {
    ...list,
    remark: display.t('balances', { available: amount(available), withdrawable: amount(withdrawable) }),
    filter: filterOf(visit, { list: 'entries', path, fields: [choice('type', ledgerTypes), ...periodFields] }),
    csv: `${path}.csv`,
    rows: data.map((row) => ({
      href: address(pathOf(row)),
      cells: factsOf(rowSchema(listEntries.reply), row, columns),
    })),
    nextCursor,
  })
}

/** The rows of a CSV file of the ledger, in the columns of the statement. */
async function* allEntries(visit: Visit): AsyncGenerator<readonly CsvRow[]> {
  yield [entryTitles]
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, nextCursor } = await readEntries(visit, cursor, rowsPerRead)
    yield data.map(entryCells)
    cursor = nextCursor ?? null
  }
}

async function findEntry({ person, params }: Visit): Promise<Entry> {
  const { playerId = '', transferId = '' } = params
  const { data } = await person.call(listEntries, { playerId, transferId, limit: 1 })
  const [entry] = data
  if (entry === undefined) throw new Rejection('TRANSFER_NOT_FOUND')
  return entry
}

/** One ledger entry, and the form that takes it back. */
async function showEntry(visit: Visit, sent?: SentForm): Promise<FastifyReply> {
  const { display, environment } = visit
  const player = await findPlayer(visit)
  const entry = await findEntry(visit)
  const path = pathOf(entry)
  if (player.environment !== environment) return visit.reply.redirect(`/${player.environment}${path}`, 303)
  const decisions = [shownDecision(visit, reverseOf(visit, entry), path, sent)]
  const shown: readonly ShownColumn<Entry>[] = [
    'type',
    'amount',
    'balanceAfter',
    ['player', () => link(player.name, visit.address(playerPath(player.id)))],
    'reason',
    'createdAt',
    'effectiveAt',
    ['reference', ({ reference }) => text(`${reference.type} ${reference.id}`)],
    'reversesTransferId',
    'transferId',
    'id',
  ]
  return showCase(visit, {
    title: display.money(entry.amount, entry.currency),
    about: player.name,
    list: visit.address(playerPath(player.id)),
    facts: factsOf(listEntries.reply.properties.data.items, entry, shown),
    decisions,
    decisionsTitle: 'actions',
    sent,
  })
}

function reverseOf({ display }: Visit, { amount, currency, transferId }: Entry): Decision {
  const words = { amount: display.money(amount, currency) }
  return {
    name: 'reverse',
    label: 'reverse',
    operation: reverseTransfer,
    fixed: { transferId },
    ask: display.t('reverseAsk', words),
    done: `${display.word('operation', reverseTransfer.id)}: ${words.amount}`,
    tone: 'bad',
  }
}
