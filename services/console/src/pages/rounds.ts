import { defined, type Input, operations, playOutcomes, type Reply, seenOf, toMinorUnits } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { notKnown, whenAway } from '../identity/person.ts'
import { ago, factsOf, id, lines, link, moment, money, nothing, type Row, rowWith, text } from '../pieces/cells.ts'
import { openRoundHours } from '../pieces/counts.ts'
import { type Directory, directoryOf, gameNames, playerCells } from '../pieces/directory.ts'
import { choice, filterOf, operatorGiven, textField, valuesOf } from '../pieces/filters.ts'
import { listRows } from '../pieces/list-page.ts'
import { type Play, playRow, providerPage } from '../pieces/plays.ts'
import { showCase, showLists, showNotYours, type Tab } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'

const { listRounds, recallRound, countOpenRounds, voidRound, endRound, listHeldWins, listPlayDays, listPlays } =
  operations.wallet
const { showPlayer } = operations.players

type Round = Reply<typeof listRounds>['data'][number]
type Asked = Partial<Input<typeof listRounds>>

/** Rounds by any id that somebody may have, those that stay open, and each play of one. */
export const roundPages: Pages = (route) => {
  route.get('/rounds', showRounds)
  route.get('/plays', showPlays)
  pageWithForms(route, '/rounds/:roundId', {
    find: findRecall,
    pathOf: ({ round }) => roundPath(round.id),
    environmentOf: ({ environment }) => environment,
    show: showRecall,
    decisionOf: (visit, found, name) => (isVerb(name) ? decisionOf(visit, found, name) : undefined),
  })
}

export const roundPath = (roundId: string): string => `/rounds/${roundId}`

/** The pages about play, for whoever may read them. */
export function playTabs({ address, person }: Visit, shown: 'all' | 'open' | 'plays' | 'heldWins' | 'playDays'): Tab[] {
  const tabs = [
    ['all', 'allRounds', '/rounds', listRounds],
    ['open', 'stillOpen', '/rounds?view=open', countOpenRounds],
    ['plays', 'plays', '/plays', listPlays],
    ['heldWins', 'heldWins', '/held-wins', listHeldWins],
    ['playDays', 'playDays', '/play-days', listPlayDays],
  ] as const
  return tabs
    .filter(([, , , operation]) => person.mayCall(operation))
    .map(([name, label, path]) => ({
      label,
      href: address(path),
      current: name === shown,
      ...(name === 'heldWins' ? { count: name } : {}),
    }))
}

/** What an id may be of. A provider's own may be that of a round, or of a transaction. */
function askedBy(found: string): readonly Asked[] {
  const [, prefix = ''] = /^([a-z]+)_[0-9a-z]{26}$/.exec(found) ?? []
  switch (prefix) {
    case 'rnd':
      return [{ roundId: found }]
    case 'pla':
      return [{ transactionId: found }]
    case 'led':
    case 'trf':
      return [{ entryId: found }]
    case 'ply':
      return [{ playerId: found }]
    default:
      return [{ roundId: found }, { transactionId: found }]
  }
}

/** Ids of providers have up to 128 characters, and no spaces. */
const isId = (given: string): boolean => /^[\x21-\x7e]{1,128}$/.test(given)

/** The rounds that an id is of, in the environment of the page. */
export async function roundsOf(visit: Visit, found: string): Promise<readonly Round[]> {
  if (!isId(found) || !visit.person.mayCall(listRounds)) return []
  const brandIds = (await directoryOf(visit)).brandIdsIn(visit.environment)
  return (await readRounds(visit, askedBy(found), { brandIds })).data
}

/** Where the plays of an id are listed, which may be that of a request; undefined: there are none here. */
export async function playsPath(visit: Visit, found: string): Promise<string | undefined> {
  if (!isId(found) || !visit.person.mayCall(listPlays)) return undefined
  const brandIds = (await directoryOf(visit)).brandIdsIn(visit.environment)
  const asked = { transactionId: found, brandIds, limit: 1 }
  const { data } = await visit.person.call(listPlays, asked).catch(whenAway({ data: [] }))
  return data.length === 0 ? undefined : `/plays?find=${encodeURIComponent(found)}`
}

/** Each round once, however many of the questions it answers. Only the first question has more pages. */
async function readRounds({ person, query, display }: Visit, questions: readonly Asked[], others: Asked) {
  const { after } = query
  const asked = after === undefined ? questions : questions.slice(0, 1)
  const pages = await Promise.all(
    asked.map((one) =>
      person.call(listRounds, { ...others, ...one, ...defined({ cursor: after }), limit: display.rowsEach }),
    ),
  )
  const rounds = new Map(pages.flatMap(({ data }) => data).map((round) => [round.id, round]))
  return { data: [...rounds.values()], nextCursor: pages[0]?.nextCursor ?? null }
}

const ages = { '24h': openRoundHours[0], '72h': openRoundHours[1] } as const
const isAge = (value: string | undefined): value is keyof typeof ages =>
  value !== undefined && Object.hasOwn(ages, value)

/** Whose play the address of a list asks for; `isNobody` where the filter names somebody whom nobody knows. */
async function whoseGiven(visit: Visit, directory: Directory, idHint: string) {
  const { field, brand, isUnknown } = await operatorGiven(visit)
  const names = directory.providers.map(({ name }) => name)
  const { find, player, provider } = valuesOf(visit, ['find', 'player', 'provider'])
  const providerId = directory.providers.find(({ name }) => name === provider)?.id
  const brandIds = brand === undefined ? directory.brandIdsIn(visit.environment) : [brand.id]
  return {
    find,
    fields: [textField('find', idHint), textField('player', 'ply_…'), field, choice('provider', names)],
    whose: defined({ brandIds, providerId, playerId: player }),
    isNobody: isUnknown || (provider !== undefined && providerId === undefined) || (find !== undefined && !isId(find)),
  }
}

/** What the list of rounds is filtered by; no question where the filter names nobody. Of a player or an id nothing is counted. */
async function filterGiven(visit: Visit, directory: Directory, isOpen: boolean) {
  const { fields, find, whose, isNobody } = await whoseGiven(visit, directory, visit.display.t('anyRoundId'))
  const states = ['open', 'closed', 'void'] as const
  const { state, olderThan } = valuesOf(visit, ['state', 'olderThan'])
  const before = isOpen && isAge(olderThan) ? visit.now.getTime() - ages[olderThan] * 3_600_000 : undefined
  const others: Asked = defined({
    ...whose,
    state: isOpen ? ('open' as const) : states.find((known) => known === state),
    openedBefore: before === undefined ? undefined : new Date(before).toISOString(),
  })
  const own = isOpen ? choice('olderThan', Object.keys(ages)) : choice('state', states)
  const questions = isNobody ? [] : find ? askedBy(find) : [{}]
  return { fields: [...fields, own], others, questions, isCounted: isOpen && !(isNobody || find || whose.playerId) }
}

/** What became of transactions: those of a player, that of an id, or else what was refused, of which much has no round. */
async function showPlays(visit: Visit): Promise<FastifyReply> {
  const { person, display, address, query } = visit
  const path = '/plays'
  const frame = { title: 'plays', path, tabs: playTabs(visit, 'plays') } as const
  if (!person.mayCall(listPlays)) return showNotYours(visit, frame, listPlays)
  const directory = await directoryOf(visit)
  const { fields, find, whose, isNobody } = await whoseGiven(visit, directory, 'pla_…')
  const isOfOne = (find ?? whose.playerId) !== undefined
  const outcome = playOutcomes.find((known) => isOfOne && known === query.outcome)
  const asked = { ...whose, ...defined({ transactionId: find, outcome, cursor: query.after }), limit: display.rowsEach }
  const { data, nextCursor } = isNobody ? { data: [], nextCursor: null } : await person.call(listPlays, asked)
  const player = await playerCells(visit, data)
  const shownFields = isOfOne ? [...fields, choice('outcome', playOutcomes)] : fields
  const rows = data.map((play) => ({
    href: address(lists.plays.opens?.(play) ?? path),
    cells: [
      ...playRow(visit, play).cells,
      { field: 'player', cell: player(play) },
      { field: 'provider', cell: directory.providerCell(play.providerId) },
      { field: 'brand', cell: directory.brandCell(play.brandId) },
    ],
  }))
  return showLists(visit, {
    ...frame,
    filter: filterOf(visit, { list: 'plays', path, fields: shownFields }),
    remark: isOfOne ? undefined : display.t('playsRefused'),
    missing: directory.isAway ? ['gateway'] : [],
    sections: [{ rows }],
    nextCursor,
  })
}

async function showRounds(visit: Visit): Promise<FastifyReply> {
  const { person, query } = visit
  const isOpen = query.view === 'open'
  const path = isOpen ? '/rounds?view=open' : '/rounds'
  const frame = { title: 'rounds', path, tabs: playTabs(visit, isOpen ? 'open' : 'all') } as const
  if (!person.mayCall(listRounds)) return showNotYours(visit, frame, listRounds)
  const directory = await directoryOf(visit)
  const { fields, others, questions, isCounted } = await filterGiven(visit, directory, isOpen)
  const [{ data, nextCursor }, counts] = await Promise.all([
    readRounds(visit, questions, others),
    isCounted ? person.call(countOpenRounds, defined({ openedBefore: others.openedBefore })) : { data: [] },
  ])
  const filter = filterOf(visit, { list: isOpen ? 'openRounds' : 'rounds', path, fields })
  const rows = await roundRows(visit, directory, data)
  const here = { ...frame, filter, nextCursor, missing: directory.isAway ? (['gateway'] as const) : [] }
  // Where one provider has many, it is not the rounds that one looks at.
  const counted = countRows(visit, directory, counts.data, others)
  const byProvider = { title: 'openByProvider', rows: counted, isAbove: true } as const
  return showLists(visit, {
    ...here,
    sections: [...(byProvider.rows.length === 0 ? [] : [byProvider]), { rows }],
    empty: isOpen ? 'noneOpen' : 'empty.rounds',
  })
}

export async function roundRows(visit: Visit, directory: Directory, rounds: readonly Round[]): Promise<readonly Row[]> {
  const [games, player] = await Promise.all([
    rounds.length === 0 ? new Map<string, string>() : gameNames(visit),
    playerCells(visit, rounds),
  ])
  return listRows(visit, lists.rounds, rounds, {
    roundId: ({ roundId }) => id(roundId),
    openedAt: ({ openedAt, state }) =>
      state === 'open' ? ago(openedAt, openRoundHours) : { kind: 'time', text: openedAt },
    game: ({ gameId }) => text(games.get(gameId) ?? gameId),
    player,
    provider: ({ providerId }) => directory.providerCell(providerId),
    brand: ({ brandId }) => directory.brandCell(brandId),
  })
}

/** How many of each provider and brand that are asked for are open. */
const countRows = (visit: Visit, directory: Directory, counts: Reply<typeof countOpenRounds>['data'], asked: Asked) =>
  counts
    .filter((row) => asked.brandIds?.includes(row.brandId) && (asked.providerId ?? row.providerId) === row.providerId)
    .map(({ providerId, brandId, open, oldestAt }) => {
      const [provider, operator] = [directory.providerName(providerId), directory.operatorName(brandId)]
      return {
        href: visit.address(`/rounds?${new URLSearchParams({ view: 'open', provider, operator })}`),
        ...rowWith({
          provider: text(provider),
          brand: text(operator),
          open: text(open),
          oldestAt: oldestAt === null ? nothing : ago(oldestAt, openRoundHours),
        }),
      }
    })

/** A round whose plays are more than this is read to its end on the command line. */
const playsShownMax = 1_000

interface Recall {
  readonly round: Round
  /** The last play first. */
  readonly plays: readonly Play[]
  readonly isWhole: boolean
  readonly directory: Directory
  readonly environment: Visit['environment']
}

async function findRecall(visit: Visit): Promise<Recall> {
  const asked = { roundId: visit.params.roundId ?? '', limit: playsShownMax }
  const [{ round, data, nextCursor }, directory] = await Promise.all([
    visit.person.call(recallRound, asked),
    directoryOf(visit),
  ])
  const environment = directory.brand(round.brandId)?.environment ?? visit.environment
  return { round, plays: data.toReversed(), isWhole: nextCursor === null, directory, environment }
}

async function showRecall(visit: Visit, found: Recall, sent?: SentForm): Promise<FastifyReply> {
  const { display, address, person } = visit
  const { round, plays, isWhole, directory } = found
  const { gameId, playerId, currency } = round
  const [games, player] = await Promise.all([
    gameNames(visit),
    person.mayCall(showPlayer) ? person.call(showPlayer, { playerId }).catch(notKnown) : undefined,
  ])
  const rtp = plays.findLast(({ standing }) => standing !== null)?.standing?.rtp
  const facts = factsOf(listRounds.reply.properties.data.items, round, [
    'state',
    ['openFor', () => (round.state === 'open' ? ago(round.openedAt, openRoundHours) : nothing)],
    'staked',
    'won',
    ['rolledBack', ({ rolledBack }) => (toMinorUnits(rolledBack) === 0n ? nothing : money(rolledBack, currency))],
    [
      'player',
      () => lines(link(player?.name ?? playerId, address(`/players/${playerId}`)), player ? id(playerId) : nothing),
    ],
    [
      'game',
      () => lines(text(games.get(gameId) ?? gameId), text(rtp && display.t('rtpAtBet', { rtp: display.number(rtp) }))),
    ],
    ['provider', ({ providerId }) => directory.providerCell(providerId)],
    ['operator', ({ brandId }) => directory.brandCell(brandId)],
    ['openedAt', ({ openedAt }) => moment(openedAt)],
    ['closedAt', ({ closedAt }) => (closedAt === null ? nothing : moment(closedAt))],
    ['closedBy', ({ closedBy }) => text(closedBy && display.word('value', `by.${closedBy}`))],
    ['detailsUrl', ({ detailsUrl }) => providerPage(visit, detailsUrl)],
    ['roundId', ({ roundId }) => id(roundId)],
    ['id', (row) => id(row.id)],
  ])
  return showCase(visit, {
    path: roundPath(round.id),
    title: display.t('roundOf', { game: games.get(gameId) ?? gameId }),
    about: display.t('rounds'),
    list: address('/rounds'),
    facts: facts.filter(({ cell }) => cell.kind !== 'nothing'),
    ...(round.state === 'open' ? { decisions: verbs.map((verb) => decisionOf(visit, found, verb)) } : {}),
    sent,
    sections: [
      {
        title: 'plays',
        remark: display.t(isWhole ? 'playsOrder' : 'playsOrderPart', { count: plays.length }),
        rows: plays.map((play) => playRow(visit, play)),
      },
    ],
  })
}

type Verb = 'void' | 'close'
const verbs: readonly Verb[] = ['void', 'close']
const isVerb = (name: string): name is Verb => name === 'void' || name === 'close'
const operationsOf = { void: voidRound, close: endRound } as const

/** It is for who has asked the provider what became of the round: no timer moves money. */
function decisionOf({ display }: Visit, { round, directory }: Recall, verb: Verb): Decision {
  const operation = operationsOf[verb]
  const words = {
    staked: display.money(round.staked, round.currency),
    provider: directory.providerName(round.providerId),
    operator: directory.operatorName(round.brandId),
  }
  const hasWins = verb === 'void' && toMinorUnits(round.won) > 0n
  return {
    name: verb,
    operation,
    fixed: { roundId: round.id, seen: seenOf(operation, round) },
    required: ['reason'],
    ask: display.t(`${verb}RoundAsk`, words),
    done: display.t(`${verb}RoundDone`, words),
    tone: 'bad',
    unless: hasWins ? display.word('error', 'ROUND_HAS_WINS') : undefined,
  }
}
