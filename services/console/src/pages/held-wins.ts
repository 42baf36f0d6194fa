import { operations, Rejection, type Reply, seenOf } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { ago, factsOf, id, lines, link, money, nothing, status } from '../pieces/cells.ts'
import { type Directory, directoryOf, playerCells } from '../pieces/directory.ts'
import { listRows } from '../pieces/list-page.ts'
import { showCase, showList, showNotYours } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'
import { playTabs } from './rounds.ts'

const { listHeldWins, listWinLimits, releaseWin } = operations.wallet
const { showPlayer } = operations.players

type HeldWin = Reply<typeof listHeldWins>['data'][number]

/** The wins that wait for two people, and one of them. */
export const heldWinPages: Pages = (route) => {
  route.get('/held-wins', showWins)
  // A provider's id of a transaction may have any character, and is longer than a part of a path may be.
  pageWithForms(route, '/held-wins/one', {
    find: findWin,
    pathOf: ({ win }) => lists.heldWins.opens?.(win) ?? '/held-wins',
    environmentOf: ({ win, directory }) => directory.brand(win.brandId)?.environment ?? 'production',
    show: showWin,
    decisionOf: (visit, found, name) => (name === 'release' ? releaseOf(visit, found) : undefined),
  })
}

async function showWins(visit: Visit): Promise<FastifyReply> {
  const { person, query, environment } = visit
  const frame = { title: 'heldWins', path: '/held-wins', tabs: playTabs(visit, 'heldWins') } as const
  if (!person.mayCall(listHeldWins)) return showNotYours(visit, frame, listHeldWins)
  const place = query.after === undefined ? {} : { cursor: query.after }
  const [{ data, nextCursor }, directory] = await Promise.all([
    person.call(listHeldWins, { ...place, limit: visit.display.rowsEach }),
    directoryOf(visit),
  ])
  const own = data.filter(({ brandId }) => directory.brand(brandId)?.environment === environment)
  const player = await playerCells(visit, own)
  const rows = listRows(visit, lists.heldWins, own, {
    transactionId: ({ transactionId }) => id(transactionId),
    heldSince: ({ firstAt, releasedAt }) =>
      releasedAt === null ? ago(firstAt) : lines(ago(firstAt, [Infinity, Infinity]), status('released')),
    player,
    provider: ({ providerId }) => directory.providerCell(providerId),
    brand: ({ brandId }) => directory.brandCell(brandId),
    roundId: ({ roundId }) => (roundId === null ? nothing : id(roundId)),
  })
  return showList(visit, { ...frame, rows, nextCursor, missing: directory.isAway ? ['gateway'] : [] })
}

interface Found {
  readonly win: HeldWin
  readonly directory: Directory
}

async function findWin(visit: Visit): Promise<Found> {
  const { provider: providerId = '', brand: brandId = '', transaction: transactionId = '' } = visit.query
  const asked = { providerId, brandId, transactionId, limit: 1 }
  const [directory, { data }] = await Promise.all([directoryOf(visit), visit.person.call(listHeldWins, asked)])
  if (data[0] === undefined) throw new Rejection('HELD_WIN_NOT_FOUND')
  return { win: data[0], directory }
}

async function showWin(visit: Visit, found: Found, sent?: SentForm): Promise<FastifyReply> {
  const { display, address, person } = visit
  const { win, directory } = found
  const { playerId, providerId, brandId, roundId, currency } = win
  const [limits, player] = await Promise.all([
    person.call(listWinLimits, { providerId, brandId, limit: 1 }),
    person.mayCall(showPlayer) ? person.call(showPlayer, { playerId }) : undefined,
  ])
  return showCase(visit, {
    path: lists.heldWins.opens?.(win) ?? '/held-wins',
    title: display.money(win.amount, currency),
    about: display.t('heldWins'),
    list: address('/held-wins'),
    facts: factsOf(listHeldWins.reply.properties.data.items, win, [
      'amount',
      ['maxWin', () => money(limits.data[0]?.maxWin ?? limits.otherwise, currency)],
      ['player', () => lines(link(player?.name ?? playerId, address(`/players/${playerId}`)), id(playerId))],
      ['provider', () => directory.providerCell(providerId)],
      ['operator', () => directory.brandCell(brandId)],
      ['heldSince', ({ firstAt }) => ago(firstAt)],
      'releasedAt',
      [
        'roundId',
        () =>
          roundId === null ? nothing : link(roundId, address(`/rounds?${new URLSearchParams({ find: roundId })}`)),
      ],
      ['transactionId', ({ transactionId }) => id(transactionId)],
    ]),
    remark: win.releasedAt === null ? undefined : display.t('winReleased'),
    decisions: win.releasedAt === null ? [releaseOf(visit, found)] : [],
    sent,
  })
}

/** It is paid when the provider sends it again: it was told to go on. */
function releaseOf({ display }: Visit, { win, directory }: Found): Decision {
  const { providerId, brandId, transactionId } = win
  const words = { amount: display.money(win.amount, win.currency), provider: directory.providerName(providerId) }
  return {
    name: 'release',
    operation: releaseWin,
    fixed: { providerId, brandId, transactionId, seen: seenOf(releaseWin, win) },
    required: ['reason'],
    ask: display.t('releaseWinAsk', words),
    done: display.t('releaseWinDone', words),
    tone: 'good',
    leadsTo: () => '/held-wins',
  }
}
