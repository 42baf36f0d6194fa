import { operations, Rejection, type Reply } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { factsOf, id, status, text } from '../pieces/cells.ts'
import { type Directory, directoryOf } from '../pieces/directory.ts'
import { listRows } from '../pieces/list-page.ts'
import { showCase, showList } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'
import { providerTabs } from './providers.ts'

const { listGameProviders, setGameProvider } = operations.players

type Game = Reply<typeof listGameProviders>['data'][number]

/** The games, and who serves each for money. */
export const gamePages: Pages = (route) => {
  route.get('/games', showGames)
  pageWithForms(route, '/games/:gameId', {
    find: findGame,
    pathOf: ({ game }) => pathOf(game),
    show: showGame,
    decisionOf: (visit, found, name) => (name === 'provider' ? decisionOf(visit, found) : undefined),
  })
}

const pathOf = ({ gameId }: Game): string => `/games/${gameId}`

/** Nobody who serves it for money: it moves none. */
const servedBy = ({ providerId }: Game, directory: Directory) =>
  providerId === null ? status('noProvider') : directory.providerCell(providerId)

async function showGames(visit: Visit): Promise<FastifyReply> {
  const [{ data }, directory] = await Promise.all([visit.person.call(listGameProviders, {}), directoryOf(visit)])
  const rows = listRows(visit, lists.gameProviders, data, {
    provider: (game) => servedBy(game, directory),
    rtp: ({ rtp }) => text(`${visit.display.number(rtp)} %`),
    gameId: ({ gameId }) => id(gameId),
  })
  return showList(visit, { title: 'games', path: '/games', tabs: providerTabs(visit, 'games'), rows })
}

interface Found {
  readonly game: Game
  readonly directory: Directory
}

async function findGame(visit: Visit): Promise<Found> {
  const [{ data }, directory] = await Promise.all([visit.person.call(listGameProviders, {}), directoryOf(visit)])
  const game = data.find(({ gameId }) => gameId === visit.params.gameId)
  if (game === undefined) throw new Rejection('GAME_NOT_FOUND')
  return { game, directory }
}

function showGame(visit: Visit, found: Found, sent?: SentForm): FastifyReply {
  const { game, directory } = found
  return showCase(visit, {
    path: pathOf(game),
    title: game.name,
    about: visit.display.t('games'),
    list: visit.address('/games'),
    facts: factsOf(listGameProviders.reply.properties.data.items, game, [
      ['provider', () => servedBy(game, directory)],
      ['studio', ({ studio }) => text(studio)],
      ['rtp', ({ rtp }) => text(`${visit.display.number(rtp)} %`)],
      ['gameId', ({ gameId }) => id(gameId)],
    ]),
    decisions: [decisionOf(visit, found)],
    decisionsTitle: 'actions',
    sent,
  })
}

function decisionOf({ display }: Visit, { game, directory }: Found): Decision {
  const { gameId, providerId } = game
  return {
    name: 'provider',
    operation: setGameProvider,
    fixed: { gameId },
    required: ['reason'],
    initial: { providerId: providerId ?? 'none' },
    options: {
      providerId: [
        ...directory.providers.map(({ id: value, name }) => ({ name: value, label: name, value })),
        { name: 'none', label: display.t('noProviderLong'), button: display.t('noProviderNow'), value: null },
      ],
    },
    ask: display.t('gameProviderAsk', { game: game.name }),
    done: `${display.word('operation', setGameProvider.id)}: ${game.name}`,
  }
}
