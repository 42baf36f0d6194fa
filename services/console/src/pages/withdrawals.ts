import {
  choicesOf,
  type Input,
  operations,
  otherPlayersMax,
  type Reply,
  seenOfWithdrawal,
  toMinorUnits,
  valueSchema,
  type WaitingStatus,
} from '@backoffice/contracts'
import { isSame, type Who } from '@backoffice/team-access/identity'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { whenAway } from '../identity/person.ts'
import {
  ago,
  type Cell,
  factsOf,
  id,
  lines,
  link,
  money,
  nothing,
  type ShownColumn,
  status,
  text,
  unusual,
  words,
} from '../pieces/cells.ts'
import { playerCells } from '../pieces/directory.ts'
import { ageAsked, type Period, withQuery } from '../pieces/filters.ts'
import { largeWinsOf } from '../pieces/large-wins.ts'
import { addCsv, lately, listRows, showListed } from '../pieces/list-page.ts'
import { historyOf, settledStatus } from '../pieces/listed.ts'
import { queueAsked, rowAfter, showCase, showList, type Tab, wayOf } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'

const { withdrawalQueue, countWithdrawalQueue, showWithdrawal, sumWithdrawals, decideWithdrawal } = operations.payments
const { showPlayer } = operations.players

type Withdrawal = Reply<typeof showWithdrawal>
type Verb = Input<typeof decideWithdrawal>['decision']

const tabs = [
  { status: 'under_review', label: 'toReview' },
  { status: 'approved', label: 'toPay' },
  { status: 'all', label: 'all' },
] as const

const decisionsIn: Readonly<Record<WaitingStatus, readonly Verb[]>> = {
  under_review: ['approve', 'reject'],
  approved: ['pay', 'fail'],
}
const keys: Readonly<Record<Verb, string>> = { approve: 'a', reject: 'r', pay: 'p', fail: 'f' }
const isVerb = (name: string): name is Verb => Object.hasOwn(keys, name)

export const withdrawalPages: Pages = (route) => {
  route.get('/withdrawals', showQueue)
  addCsv(route, '/withdrawals', lists.withdrawals, csvColumns)
  route.get('/withdrawals/next', goToNext)
  pageWithForms(route, '/withdrawals/:withdrawalId', {
    find: findCase,
    pathOf: ({ withdrawal }, visit) => casePath(visit, withdrawal),
    environmentOf: ({ withdrawal }) => withdrawal.environment,
    show: showPage,
    decisionOf: (visit, found, name) => (isVerb(name) ? decisionOf(visit, found, name) : undefined),
  })
}

const csvColumns = [
  ...(['id', 'createdAt', 'operatorName', 'operatorId', 'brandId', 'environment', 'playerId'] as const),
  ...(['amount', 'currency', 'method', 'destination', 'status', 'approvedBy'] as const),
  ...(['reviewedAt', 'paidAt', 'reason'] as const),
]

export const withdrawalPath = (withdrawal: Pick<Withdrawal, 'id'>): string => `/withdrawals/${withdrawal.id}`

const casePath = (visit: Visit, { id: of }: Pick<Withdrawal, 'id'>) =>
  withQuery(withdrawalPath({ id: of }), wayOf(visit))
const queuePath = (visit: Visit, shown: WaitingStatus): string =>
  visit.address(withQuery(`/withdrawals?status=${shown}`, wayOf(visit, ['age', 'order'])))

/** Where several are paid, and those of one file for the bank. */
export const paymentRun = '/withdrawals/pay'
export const paymentFilePath = (fileId: string): string => `${paymentRun}?file=${fileId}`

/** Whoever pays one of a file by hand pays it twice. */
const fileLink = (
  { display, address }: Pick<Visit, 'display' | 'address'>,
  { paymentFile }: Pick<Withdrawal, 'paymentFile'>,
): Cell =>
  paymentFile
    ? link(
        display.t('inFile', { who: paymentFile.madeBy, ago: display.ago(paymentFile.madeAt) }),
        address(paymentFilePath(paymentFile.id)),
      )
    : nothing

/** The case has the others. */
const namedInRow = 2

async function showQueue(visit: Visit): Promise<FastifyReply> {
  const { query } = visit
  if (query.status === 'all') return showAll(visit)
  const shown = waitingStatus(query.status)
  const age = ageAsked(visit)
  const [{ data, nextCursor }, counted, sums] = await Promise.all([
    readQueue(visit, shown),
    visit.person.call(countWithdrawalQueue, { environment: visit.environment }),
    queueSums(visit, shown, age?.period),
  ])
  const total = age === undefined ? counted.data.find(({ status: value }) => value === shown)?.waiting : undefined
  const opens = (row: (typeof data)[number]) => casePath(visit, row)
  const rows = listRows(visit, { ...lists.waitingWithdrawals, opens }, data, {
    player: ({ playerId, playerName, playerStatus }) =>
      lines(text(playerName), id(playerId), unusual(playerStatus, 'ativo')),
    waitingFor: ({ createdAt }) => ago(createdAt),
    destination: (row) => lines(text(row.destination), text(row.method), ...destinationFacts(visit, row, namedInRow)),
    kycStatus: ({ kycStatus }) => unusual(kycStatus, 'aprovado'),
    paymentFile: (row) => fileLink(visit, row),
  })
  const mayPay = shown === 'approved' && data.length > 1 && visit.person.mayCall(decideWithdrawal, { decision: 'pay' })
  const create = mayPay ? { href: visit.address(paymentRun), label: 'paySeveral' as const } : undefined
  const frame = frameOf(visit, shown)
  const path = age === undefined ? frame.path : withQuery(frame.path, age.query)
  const list = { ...frame, path, remark: age?.remark, create, nextCursor, total, orders }
  return showList(visit, { ...list, empty: 'noneWaits', rows, sums })
}

/** What waits in a queue, of all its pages. */
const queueSums = ({ person, environment }: Visit, queue: WaitingStatus, period: Period = {}) =>
  person.call(sumWithdrawals, { environment, queue, ...period }).catch(whenAway(undefined))

/** All of them, newest first: what became of a withdrawal. */
const showAll = (visit: Visit): Promise<FastifyReply> =>
  showListed(visit, {
    list: lists.withdrawals,
    ...frameOf(visit, 'all'),
    cells: async (_visit, rows) => ({
      player: await playerCells(visit, rows),
      status: (row) => settledStatus(visit, row),
    }),
    sums: sumWithdrawals,
    frame: (_visit, asked) => ({
      tabs: frameOf(visit, 'all').tabs,
      csv: '/withdrawals.csv',
      remark: asked && lately(visit, asked),
    }),
  })

function frameOf({ address }: Visit, shown: WaitingStatus | 'all') {
  const pathIn = (value: string) => `/withdrawals?status=${value}`
  const shownTabs = tabs.map(({ status: value, label }): Tab => {
    return { label, count: label, href: address(pathIn(value)), current: value === shown }
  })
  return { title: 'withdrawals' as const, tabs: shownTabs, path: pathIn(shown) }
}

const waitingStatus = (value: string | undefined): WaitingStatus => (value === 'approved' ? 'approved' : 'under_review')

const orders = choicesOf(valueSchema(withdrawalQueue.body.properties.order)) as readonly QueueOrder[]
type QueueOrder = NonNullable<Input<typeof withdrawalQueue>['order']>

const readQueue = (visit: Visit, value: WaitingStatus) =>
  visit.person.call(withdrawalQueue, { status: value, ...queueAsked(visit, orders) })

/** What makes somebody look twice. @param named so many of the other players whose destination it is */
export const destinationFacts = (
  visit: Visit,
  { facts }: Pick<Withdrawal, 'facts'>,
  named: number,
): readonly Cell[] => [
  ...(facts.firstWithdrawal ? [status(visit.display.t('firstWithdrawal'))] : []),
  ...(!facts.destinationUsedBefore && !facts.firstWithdrawal ? [status(visit.display.t('newDestination'))] : []),
  ...sharedWith(visit, facts.otherPlayers, named),
]

function sharedWith({ display, address }: Visit, others: Withdrawal['facts']['otherPlayers'], named: number) {
  const { count = 0, players = [] } = others ?? {}
  if (count === 0) return []
  const some = count === 1 ? 'sharedWithOne' : 'sharedWithSome'
  const shown = display.t(count < otherPlayersMax.counted ? some : 'sharedWithMany', { count })
  const links = players.map(({ playerId, playerName }) => link(playerName ?? playerId, address(`/players/${playerId}`)))
  return [status(shown), words(...links.slice(0, named))]
}

/** Past those on which a decision is being carried out. */
async function goToNext(visit: Visit): Promise<FastifyReply> {
  const { query, address, reply } = visit
  const shown = waitingStatus(query.status)
  const isHere = ({ id: withdrawalId }: Pick<Withdrawal, 'id'>) => withdrawalId === query.not
  const next = rowAfter((await readQueue(visit, shown)).data, isHere, ({ settling }) => !settling)
  return reply.redirect(next === undefined ? queuePath(visit, shown) : address(casePath(visit, next)), 303)
}

interface Case {
  readonly withdrawal: Withdrawal
  readonly player: Reply<typeof showPlayer>
}

async function findCase({ person, params }: Visit): Promise<Case> {
  const withdrawal = await person.call(showWithdrawal, { withdrawalId: params.withdrawalId ?? '' })
  return { withdrawal, player: await person.call(showPlayer, { playerId: withdrawal.playerId }) }
}

async function showPage(visit: Visit, found: Case, sent?: SentForm): Promise<FastifyReply> {
  const { display } = visit
  const { withdrawal, player } = found
  const largeWins = await largeWinsOf(visit, player.id, withdrawal.currency)
  const verbs = isWaiting(withdrawal.status) && !withdrawal.settling ? decisionsIn[withdrawal.status] : []
  const facts = factsOf(showWithdrawal.reply, withdrawal, [
    ['status', (row) => lines(status(row.status), unreserved(row))],
    ...(withdrawal.paymentFile ? [['paymentFile', (row: Withdrawal) => fileLink(visit, row)] as const] : []),
    ['destination', (row) => lines(text(row.destination), ...destinationFacts(visit, row, otherPlayersMax.named))],
    'method',
    ['player', () => lines(link(player.name, visit.address(`/players/${player.id}`)), id(player.id))],
    ...balanceOf(visit, withdrawal),
    [
      'operator',
      ({ operatorId }) => link(withdrawal.operatorName ?? operatorId, visit.address(`/operators/${operatorId}`)),
    ],
    ['playerStatus', () => status(player.status)],
    ['kycStatus', () => status(player.kycStatus)],
    ['deposits30Days', (row) => sumCell(visit, row, row.facts.deposits30Days)],
    ['withdrawals30Days', (row) => sumCell(visit, row, row.facts.withdrawals30Days)],
    ...(largeWins === undefined ? [] : [['largeWins', () => largeWins] as const]),
    'createdAt',
    'reviewedAt',
    'paidAt',
    'reason',
    'id',
  ])
  return showCase(visit, {
    path: casePath(visit, withdrawal),
    title: display.money(withdrawal.amount, withdrawal.currency),
    about: display.t('withdrawals'),
    list: queuePath(visit, waitingStatus(withdrawal.status)),
    next: visit.address(
      withQuery(`/withdrawals/next?status=${stageOf(withdrawal)}&not=${withdrawal.id}`, wayOf(visit)),
    ),
    facts,
    remark: withdrawal.settling ? display.t('settling') : undefined,
    people: peopleOf(visit, withdrawal),
    decisions: verbs.map((verb) => decisionOf(visit, found, verb)),
    sent,
    history: historyOf(withdrawal.transitions, withdrawal.operatorName ?? withdrawal.operatorId),
  })
}

/** At this moment. Without the wallet the rest of the case is shown. */
function balanceOf({ display }: Visit, { balance, currency }: Withdrawal): readonly ShownColumn<Withdrawal>[] {
  if (balance === undefined) return []
  if (balance === null) return [['available', () => text(display.t('serviceAway', { service: 'wallet' }))]]
  return (['available', 'reserved', 'withdrawable'] as const).map((field) => [
    field,
    () => money(balance[field], currency),
  ])
}

/** Whether no money is there for a withdrawal that waits: by the ledger, or by the balance that the page shows. */
export function isUnreserved({ status: value, settling, amount, isReserved, balance }: Withdrawal): boolean {
  if (!isWaiting(value) || settling) return false
  // What it reserves itself is part of both.
  const shown = balance ? [balance.available, balance.reserved] : []
  return isReserved === false || shown.some((sum) => toMinorUnits(sum) < toMinorUnits(amount))
}

export const unreserved = (withdrawal: Withdrawal): Cell => (isUnreserved(withdrawal) ? status('notReserved') : nothing)

const sumCell = (
  { display }: Visit,
  { currency }: Pick<Withdrawal, 'currency'>,
  sum: { readonly count: number; readonly amount: string } | undefined,
): Cell => (sum === undefined ? text(null) : text(`${sum.count} · ${display.money(sum.amount, currency)}`))

/** The queue in which the work on this withdrawal was done: whoever has just approved one goes on reviewing. */
const stageOf = ({ status: value, transitions }: Withdrawal): WaitingStatus => {
  const former = transitions.at(-1)?.from ?? ''
  return isWaiting(former) ? former : isWaiting(value) ? value : 'under_review'
}

const isWaiting = (value: string): value is WaitingStatus => Object.hasOwn(decisionsIn, value)

const approvalOf = ({ transitions }: Withdrawal) => transitions.findLast(({ to }) => to === 'approved')

/** As the service judges it: by the account or the name. */
const isBy = (person: Who, made: Withdrawal['transitions'][number] | undefined): boolean =>
  made !== undefined && isSame({ id: made.by.id ?? '', name: made.by.name }, person)

/** Who was first, before the second one clicks. */
function peopleOf({ display, person }: Visit, withdrawal: Withdrawal): readonly string[] {
  const approval = approvalOf(withdrawal)
  if (withdrawal.status !== 'approved' || approval === undefined) return []
  const first = display.t('firstPerson', { name: approval.by.name, ago: display.ago(approval.at) })
  if (withdrawal.environment === 'sandbox') return [first]
  if (!withdrawal.payTakesTwo) return [first, display.t('onePerson')]
  return [first, display.t(isBy(person, approval) ? 'firstIsYou' : 'twoPeople')]
}

/** The form that says that it is paid. */
export const payDecision = (visit: Visit, found: Decided): Decision => decisionOf(visit, found, 'pay')

interface Decided {
  readonly withdrawal: Withdrawal
  readonly player: { readonly name: string }
}

function decisionOf({ display, person }: Visit, { withdrawal, player }: Decided, verb: Verb): Decision {
  const amount = display.money(withdrawal.amount, withdrawal.currency)
  const { destination, method } = withdrawal
  const words = { amount, destination: `${method} “${destination}”`, player: `“${player.name}”` }
  const leadsToPayment = verb === 'approve' || verb === 'pay'
  // The player will ask why the money does not come.
  const asked = leadsToPayment ? [] : ['reason']
  const isSecond = verb === 'pay' && withdrawal.payTakesTwo && isBy(person, approvalOf(withdrawal))
  return {
    name: verb,
    label: verb,
    operation: decideWithdrawal,
    fixed: { withdrawalId: withdrawal.id, decision: verb, ...seenOfWithdrawal(withdrawal) },
    only: asked,
    required: asked,
    ask: display.t(`${verb}Ask`, words),
    done: display.t(`${verb}Done`, { amount }),
    tone: verb === 'approve' || verb === 'pay' ? 'good' : 'bad',
    key: keys[verb],
    unless:
      leadsToPayment && isUnreserved(withdrawal)
        ? display.word('error', 'WITHDRAWAL_NOT_RESERVED')
        : isSecond
          ? display.t('firstIsYou')
          : undefined,
  }
}
