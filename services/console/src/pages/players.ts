import {
  defined,
  fromMinorUnits,
  listedDays,
  operations,
  type Reply,
  seenOf,
  type TeamPlayer,
  toMinorUnits,
} from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { factsOf, id, lines, link, type ShownColumn, status, text, words } from '../pieces/cells.ts'
import { drawBalance } from '../pieces/day-pictures.ts'
import type { Option } from '../pieces/forms.ts'
import { addCsv, showListed } from '../pieces/list-page.ts'
import { operatorName } from '../pieces/listed.ts'
import { showCase } from '../pieces/queue.ts'
import { timelineOf } from '../pieces/timeline.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'

const { showPlayer, setPlayerStatus, selfExcludePlayer, setDailyLimit } = operations.players
const { listEntries, adjustWallet } = operations.wallet

type Player = Reply<typeof showPlayer>

/** What can be done with a player, in the order of the page. */
const verbs = {
  unmask: showPlayer,
  status: setPlayerStatus,
  exclude: selfExcludePlayer,
  limit: setDailyLimit,
  adjust: adjustWallet,
} as const
type Verb = keyof typeof verbs
const verbNames = Object.keys(verbs) as readonly Verb[]
const isVerb = (name: string): name is Verb => Object.hasOwn(verbs, name)

/** One player: who it is, its money, what has happened, and what the team can do about it. */
export const playerPages: Pages = (route) => {
  route.get('/players', showPlayers)
  addCsv(route, '/players', lists.players, csvColumns)
  pageWithForms(route, '/players/:playerId', {
    find: ({ person, params }) => person.call(showPlayer, { playerId: params.playerId ?? '' }),
    pathOf: ({ id: playerId }) => pathOf(playerId),
    environmentOf: ({ environment }) => environment,
    show: (visit, player, sent) => showPage(visit, player, { sent }),
    decisionOf: (visit, player, name) => (isVerb(name) ? decisionOf(visit, player, name) : undefined),
  })
}

const pathOf = (playerId: string): string => `/players/${playerId}`

/** As the services mask them: what names a person beyond its name is no column of a file. */
const csvColumns = [
  ...(['id', 'createdAt', 'operatorName', 'operatorId', 'brandId', 'environment', 'externalId', 'name'] as const),
  ...(['status', 'kycStatus', 'selfExclusion', 'currency', 'dailyDepositLimit'] as const),
]

/** The players of all operators, the newest first. */
const showPlayers = (visit: Visit): Promise<FastifyReply> =>
  showListed(visit, {
    list: lists.players,
    title: 'players',
    path: '/players',
    cells: () => ({ selfExclusion: (row) => exclusionCell(visit, row) }),
    frame: ({ display }, asked = {}) => {
      const isLately =
        (asked.brandId ?? asked.externalId ?? asked.from) === undefined && asked.status !== 'autoexcluido'
      return { csv: '/players.csv', remark: isLately ? display.t('playersLately', { days: listedDays }) : undefined }
    },
  })

interface ShownPlayer {
  readonly sent?: SentForm | undefined
  /** Nothing is masked, of this player and on this page alone. */
  readonly isUnmasked?: true
}

async function showPage(visit: Visit, player: Player, { sent, isUnmasked }: ShownPlayer = {}): Promise<FastifyReply> {
  const { display } = visit
  const operator = await operatorName(visit, player.operatorId)
  const [balances, timeline, pictures] = await Promise.all([
    balancesOf(visit, player),
    timelineOf(visit, player, operator),
    drawBalance(visit, player.id),
  ])
  const money = balances === undefined ? [] : moneyOf(visit, { player, balances, reservedBy: timeline.reservedBy })
  const decisions = verbNames
    .filter((verb) => verb !== 'unmask' || isUnmasked !== true)
    .map((verb) => decisionOf(visit, player, verb))
  const facts = factsOf(showPlayer.reply, player, [
    ['playerStatus', (row) => status(row.status)],
    [
      'kycStatus',
      (row) =>
        row.kycStatus === 'nao_iniciado'
          ? status(row.kycStatus)
          : link(display.word('value', row.kycStatus), visit.address(`/kyc/${row.id}`)),
    ],
    ...money,
    'cpf',
    'email',
    'phone',
    'birthDate',
    ['operator', ({ operatorId }) => link(operator, visit.address(`/operators/${operatorId}`))],
    'externalId',
    ['dailyDepositLimit', ({ dailyDepositLimit: limit }) => text(limit && display.money(limit, player.currency))],
    ['pendingLimit', ({ pendingLimit }) => text(pendingLimit && pendingText(visit, player, pendingLimit))],
    ['selfExclusion', (row) => exclusionCell(visit, row)],
    'createdAt',
    ['id', (row) => id(row.id)],
  ])
  return showCase(visit, {
    path: pathOf(player.id),
    title: player.name,
    about: display.t('player'),
    facts,
    remark: isUnmasked ? display.t('unmasked') : undefined,
    decisions,
    decisionsTitle: 'actions',
    sent,
    pictures,
    sections: [
      {
        title: 'timeline',
        remark: timeline.since && display.t('timelineSince', { time: display.time(timeline.since) }),
        rows: timeline.rows,
      },
    ],
  })
}

const untilText = ({ display }: Visit, until: string | null): string =>
  until === null ? display.t('forGood') : display.t('untilTime', { time: display.time(until) })

/** It holds for the person: one of their other accounts may have asked for it. */
function exclusionCell(
  visit: Visit,
  { id: playerId, selfExclusion, excludedBy, excludedUntil, statusSet }: TeamPlayer,
) {
  const { display, address } = visit
  const own =
    selfExclusion === null
      ? text(statusSet === 'autoexcluido' ? display.t('forGood') : null)
      : text(untilText(visit, selfExclusion.until))
  if (excludedBy === null || excludedBy === playerId) return own
  // A service of the release before does not say until when.
  const until = excludedUntil === undefined ? '' : untilText(visit, excludedUntil)
  const said = display.t(until === '' ? 'excludedElsewhere' : 'excludedElsewhereUntil', { until })
  return lines(own, link(said, address(pathOf(excludedBy))))
}

function pendingText({ display }: Visit, player: Player, pending: NonNullable<Player['pendingLimit']>): string {
  const { dailyDepositLimit: limit, from } = pending
  const value = limit === null ? display.t('noLimit') : display.money(limit, player.currency)
  return display.t('fromTime', { value, time: display.time(from) })
}

/** Some may see players and not their money. */
const balancesOf = ({ person }: Visit, { id: playerId }: Player) =>
  person.mayCall(listEntries) ? person.call(listEntries, { playerId, limit: 1 }) : undefined

const reservedShownMax = 3

interface Money {
  readonly player: Player
  readonly balances: { readonly available: string; readonly withdrawable: string }
  readonly reservedBy: Awaited<ReturnType<typeof timelineOf>>['reservedBy']
}

/** With the withdrawals that make the difference between the two. */
function moneyOf(
  { display, address }: Visit,
  { player, balances: { available, withdrawable }, reservedBy }: Money,
): readonly ShownColumn<Player>[] {
  const amount = (value: string) => text(display.money(value, player.currency))
  const reserved = fromMinorUnits(toMinorUnits(available) - toMinorUnits(withdrawable))
  const withdrawals = reservedBy
    .slice(0, reservedShownMax)
    .map((one) => link(display.money(one.amount, one.currency), address(`/withdrawals/${one.id}`)))
  const isOne = reservedBy.length === 1 && reservedBy[0]?.amount === reserved
  return [
    [
      'available',
      () =>
        lines(
          amount(available),
          words(
            link(display.t('ledger'), address(`${pathOf(player.id)}/entries`)),
            link(display.t('rounds'), address(`/rounds?player=${player.id}`)),
            link(display.t('plays'), address(`/plays?player=${player.id}`)),
          ),
        ),
    ],
    ...(toMinorUnits(reserved) === 0n
      ? []
      : [
          ['reserved', () => (isOne ? words(...withdrawals) : lines(amount(reserved), words(...withdrawals)))] as const,
        ]),
    ['withdrawable', () => amount(withdrawable)],
  ]
}

/** So that nobody excludes somebody for good, or takes a limit away, by leaving a field empty. */
function optionsOf({ display, now }: Visit, verb: Verb): Decision['options'] {
  if (verb === 'limit')
    return {
      dailyDepositLimit: [
        { name: 'given', label: display.t('limitGiven') },
        { name: 'none', label: display.t('limitNone'), button: display.t('limitNone'), value: null },
      ],
    }
  if (verb !== 'exclude') return undefined
  const periods = [1, 6].map((months): Option => {
    const value = monthsAfter(now, months)
    const words = { months, time: display.time(value) }
    const label = display.t(months === 1 ? 'excludeMonth' : 'excludeMonths', words)
    return { name: `months${months}`, label, button: display.t('excludeUntilNow', words), value }
  })
  const forGood = { label: display.t('excludeForGood'), button: display.t('excludeForGoodNow') }
  return {
    until: [
      ...periods,
      { name: 'given', label: display.t('excludeGiven') },
      { name: 'forGood', ...forGood, value: null },
    ],
  }
}

/** The same time of the same day, or of the last day of a shorter month. */
function monthsAfter(now: Date, months: number): string {
  const then = new Date(now)
  then.setUTCMonth(now.getUTCMonth() + months)
  if (then.getUTCDate() !== now.getUTCDate()) then.setUTCDate(0)
  return then.toISOString()
}

function decisionOf(visit: Visit, player: Player, verb: Verb): Decision {
  const { display } = visit
  const operation = verbs[verb]
  const endsExclusion = player.environment === 'production' && player.statusSet === 'autoexcluido'
  const seen = verb === 'unmask' ? { unmask: true } : { seen: seenOf(verbs[verb], player) }
  const ask = verb === 'status' && endsExclusion ? 'statusAskTwo' : (`${verb}Ask` as const)
  return {
    name: verb,
    label: verb,
    operation,
    fixed: { playerId: player.id, ...seen },
    // Whatever is done to a player, somebody will ask why.
    required: ['reason'],
    ask: display.t(ask, { player: `“${player.name}”` }),
    done: `${display.word('operation', operation.id)}: ${player.name}`,
    tone: verb === 'exclude' || verb === 'adjust' ? 'bad' : 'plain',
    ...(verb === 'adjust' || verb === 'limit' ? { currency: player.currency } : {}),
    ...defined({ options: optionsOf(visit, verb) }),
    ...(verb === 'unmask' ? { shows: (reply) => showPage(visit, reply as Player, { isUnmasked: true }) } : {}),
  }
}
