import {
  ageFromHours,
  defined,
  type Input,
  type Operation,
  oddMax,
  operations,
  type Proposal,
  refusalRowsMax,
  type ServiceName,
  toMinorUnits,
} from '@backoffice/contracts'
import { dayMs } from '@backoffice/process'
import { whenAway } from '../identity/person.ts'
import type { Word } from '../words/index.ts'
import { drawArrivals } from './arrivals.ts'
import { ago, type Cell, lines, link, money, nothing, rowWith, status, text } from './cells.ts'
import { chartOf, type Point } from './chart.ts'
import { drawKycTimes, drawMoney, drawWithdrawalTimes } from './day-pictures.ts'
import { directoryOf } from './directory.ts'
import { ageText, lateAfterHours, periodOf } from './filters.ts'
import { beforeOf, firstOnly, type Picture } from './queue.ts'
import type { Visit } from './visit.ts'

interface Drawing {
  /** Whoever may call it sees the picture. */
  readonly operation: Operation
  readonly title: Word
  readonly draw: (visit: Visit) => Promise<readonly Picture[]>
}

const { countRefusals } = operations.gateway
const { ageWithdrawalQueue, timeWithdrawalDecisions, listOddWithdrawals } = operations.payments
const { ageKycQueue, timeKycDecisions, listRaisedLimits } = operations.players
const { listMoneyDays, listProposals, listWinLimits, setWinLimit } = operations.wallet
const { listDeliveryHours } = operations.webhooks

const drawings: readonly Drawing[] = [
  { operation: ageWithdrawalQueue, title: 'withdrawals', draw: drawWithdrawalAges },
  { operation: ageKycQueue, title: 'kyc', draw: drawKycAges },
  { operation: listMoneyDays, title: 'moneyByDay', draw: drawMoney },
  { operation: timeWithdrawalDecisions, title: 'withdrawalTimes', draw: drawWithdrawalTimes },
  { operation: timeKycDecisions, title: 'kycTimes', draw: drawKycTimes },
  { operation: listOddWithdrawals, title: 'largestWaiting', draw: drawOddWithdrawals },
  { operation: listRaisedLimits, title: 'raisedLimits', draw: drawRaisedLimits },
  { operation: listWinLimits, title: 'raisedWinLimits', draw: drawRaisedWinLimits },
  { operation: listDeliveryHours, title: 'arrivals', draw: drawArrivals },
  { operation: countRefusals, title: 'refusalsByCode', draw: drawRefusals },
]

/**
 * The pictures that this person may see, of one environment. What a page costs at a million deposits a day: of each queue
 * 10,000 rows at most; of money two rows a day for each brand, 12,400 of 200 brands; of decisions 30 times 1,000 entries of an
 * index (of identities some twice as many, ten times at most, with player and document of each); 4,000 waiting withdrawals,
 * and of their destinations 20 players each; 500 refusals of each operator; of webhooks 24 hours of each operator; a week of
 * approvals by two people. Behind it the wallet counts some 700 entries a minute, and webhooks as many deliveries.
 */
export async function picturesFor(visit: Visit): Promise<readonly Picture[]> {
  const drawn = drawings
    .filter(({ operation }) => visit.person.mayCall(operation))
    .map(({ operation, title, draw }) => {
      const away = { title: visit.display.t(title), away: operation.service as ServiceName }
      return draw(visit).catch(whenAway([away]))
    })
  return (await Promise.all(drawn)).flat()
}

interface Waiting {
  readonly fromHours: number
  readonly waiting: number
  readonly amount?: Cell
}

/** A queue by age: a bar for each band, which leads to those in it, and the goal before the last. */
function agesOf({ display, address }: Visit, title: string, path: string, data: readonly Waiting[]): Picture {
  const bands = ageFromHours.map((fromHours) => {
    const own = data.filter((one) => one.fromHours === fromHours)
    const waiting = own.reduce((sum, one) => sum + one.waiting, 0)
    return { fromHours, name: ageText(display, fromHours), waiting, amounts: own.flatMap(({ amount }) => amount ?? []) }
  })
  const count = bands.reduce((sum, { waiting }) => sum + waiting, 0)
  if (count === 0) return { title, remark: display.t('nothingWaits') }
  const late = bands.filter(({ fromHours }) => fromHours >= lateAfterHours)
  const lateCount = late.reduce((sum, { waiting }) => sum + waiting, 0)
  const said = { count: shownCount(display, count), late: shownCount(display, lateCount), hours: lateAfterHours }
  return {
    title,
    isOpen: true,
    charts: [
      chartOf({
        title: () => display.t('agesOf', said),
        ends: bands.map(({ name }) => name),
        goalBefore: bands.length - late.length,
        series: [
          {
            kind: 'bar',
            points: pointsOf(
              bands.filter((band) => !late.includes(band)),
              late.length,
              0,
            ),
          },
          { kind: 'bar', tone: 'down', points: pointsOf(late, 0, bands.length - late.length) },
        ],
      }),
    ],
    rows: bands.map(({ fromHours, name, waiting, amounts }) =>
      rowWith({
        waitingFor:
          waiting === 0 ? text(name) : link(name, address(`${path}${path.includes('?') ? '&' : '?'}age=${fromHours}`)),
        waiting: text(waiting),
        sumWaiting: lines(...amounts),
      }),
    ),
  }
}

const shownCount = ({ number }: Visit['display'], count: number): string => number(String(count))

const unknown: Point = { amount: null, label: '' }
/** A series has a point in each place. */
const pointsOf = (
  bands: readonly { readonly name: string; readonly waiting: number }[],
  behind: number,
  before: number,
): readonly Point[] => [
  ...Array<Point>(before).fill(unknown),
  ...bands.map(({ name, waiting }) => ({ amount: BigInt(waiting), label: `${name}: ${waiting}` })),
  ...Array<Point>(behind).fill(unknown),
]

async function drawWithdrawalAges(visit: Visit): Promise<readonly Picture[]> {
  const { display, person, environment } = visit
  const { data } = await person.call(ageWithdrawalQueue, { environment })
  return (['under_review', 'approved'] as const).map((status) => {
    const own = data.filter((one) => one.status === status)
    const waiting = own.map(({ amount, currency, ...one }) => ({ ...one, amount: money(amount, currency) }))
    const name = display.t(status === 'approved' ? 'toPay' : 'toReview').toLowerCase()
    return agesOf(visit, `${display.t('withdrawals')}: ${name}`, `/withdrawals?status=${status}`, waiting)
  })
}

async function drawKycAges(visit: Visit): Promise<readonly Picture[]> {
  const { data } = await visit.person.call(ageKycQueue, { environment: visit.environment })
  return [agesOf(visit, visit.display.t('kyc'), '/kyc', data)]
}

/** Bars of the largest that wait, and where several players are paid. */
async function drawOddWithdrawals(visit: Visit): Promise<readonly Picture[]> {
  const { display, address, person, environment } = visit
  const { t } = display
  const { data, shared } = await person.call(listOddWithdrawals, { environment })
  const title = t('largestWaiting')
  const amountOf = (row: (typeof data)[number]) => display.money(row.amount, row.currency)
  const largest: Picture =
    data.length === 0
      ? { title, remark: t('nothingWaits') }
      : {
          title,
          isOpen: true,
          charts: [
            chartOf({
              title: () => data.map(amountOf).join(' · '),
              ends: [],
              series: [
                {
                  kind: 'bar',
                  points: data.map((row) => ({ amount: toMinorUnits(row.amount), label: amountOf(row) })),
                },
              ],
            }),
          ],
          rows: data.map((row) => ({
            href: address(`/withdrawals/${row.id}`),
            ...rowWith({
              player: lines(
                text(row.playerName ?? row.playerId),
                row.firstWithdrawal ? status(t('firstWithdrawal')) : nothing,
              ),
              waitingFor: ago(row.createdAt),
              amount: money(row.amount, row.currency),
              operator: text(row.operatorName ?? row.operatorId),
            }),
          })),
        }
  const { playersCounted } = oddMax
  const destinations: Picture = {
    title: t('sharedDestinations'),
    isOpen: true,
    rows: shared.map(({ withdrawalId, players, waiting, amount, currency }) => ({
      href: address(`/withdrawals/${withdrawalId}`),
      ...rowWith({
        players: text(t(players < playersCounted ? 'playersCount' : 'playersOrMore', { count: players })),
        waiting: text(waiting),
        sumWaiting: money(amount, currency),
      }),
    })),
    ...(shared.length === 0 ? { remark: t('noneShared') } : {}),
  }
  return [largest, destinations]
}

async function drawRaisedLimits(visit: Visit): Promise<readonly Picture[]> {
  const { display, address, person, environment } = visit
  const { t } = display
  const { from } = periodOf({ ...visit, query: { period: 'today' } })
  const { data } = await person.call(listRaisedLimits, { environment, ...defined({ since: from }) })
  return [
    {
      title: t('raisedLimits'),
      isOpen: true,
      rows: data.map(({ playerId, name, operatorName, operatorId, currency, previous, next, actor }) => ({
        href: address(`/players/${playerId}`),
        ...rowWith({
          player: text(name),
          // What will hold is what the eye finds beside the name, on a phone too.
          limitAfter: next === null ? status(t('noLimit')) : money(next, currency),
          limitBefore: money(previous, currency),
          operator: text(operatorName ?? operatorId),
          actor: text(actor),
        }),
      })),
      ...(data.length === 0 ? { remark: t('noneRaised') } : {}),
    },
  ]
}

/** So many approvals are read at once, and those of so many days shown. */
const [approvalsEach, raisedDays] = [200, 7]

/** What two people of the team agreed on since a time, as the wallet has it: all of it, or many others would hide one. */
async function approvedSince({ person }: Visit, since: string) {
  const approved: Proposal[] = []
  for (let before: string | undefined; ; ) {
    const asked = { state: 'approved', limit: approvalsEach, ...beforeOf(before) } as const
    const { data, nextCursor } = await person.call(listProposals, asked)
    approved.push(...data)
    // What was proposed before has expired, too.
    if (nextCursor === null || data.some(({ expiresAt }) => expiresAt < since)) return approved
    before = nextCursor
  }
}

/** What one win of a provider may be without two people: whoever means to steal needs it to be higher. */
async function drawRaisedWinLimits(visit: Visit): Promise<readonly Picture[]> {
  const { address, environment, now } = visit
  const { t } = visit.display
  // There one person raises it, and no proposal tells of it.
  if (environment === 'sandbox') return []
  const since = new Date(now.getTime() - raisedDays * dayMs).toISOString()
  const approved = await approvedSince(visit, since)
  const { isAway, brand, providerCell, brandCell } = await directoryOf(visit)
  const title = t('raisedWinLimits')
  // It knows which brand is of which environment.
  if (isAway) return [{ title, away: 'gateway' }]
  const rows = approved.flatMap(({ id, operation, input, proposedBy: by, decidedBy, decidedAt }) => {
    if (operation !== setWinLimit.id || decidedAt === null || decidedAt < since) return []
    const { providerId, brandId, maxWin, seen } = input as Input<typeof setWinLimit>
    const { currency, environment: where } = brand(brandId) ?? {}
    if (currency === undefined || where !== environment) return []
    const cells = {
      ...{ provider: providerCell(providerId), operator: brandCell(brandId) },
      ...{ maxWin: money(maxWin, currency), limitBefore: money(seen.maxWin, currency) },
      ...{ at: ago(decidedAt), by: text(t('withApproval', { by, approvedBy: decidedBy ?? '' })) },
    }
    return [{ href: address(`/proposals/${id}`), ...rowWith(cells) }]
  })
  return [rows.length === 0 ? { title, remark: t('noneRaisedWins') } : { title, isOpen: true, rows }]
}

/** Who integrates badly: a bar for each operator and code, which leads to those requests. */
async function drawRefusals(visit: Visit): Promise<readonly Picture[]> {
  const { display, address, person, environment } = visit
  const { t } = display
  const { data } = await person.call(countRefusals, { environment })
  const title = t('refusalsByCode')
  const [most] = data
  if (most === undefined) return [{ title, remark: t('noneRefused') }]
  const points = data.map(({ operatorName, code, refused }) => ({
    amount: BigInt(refused),
    label: `${operatorName}, ${code}: ${refused}`,
  }))
  return [
    {
      title,
      ...firstOnly(visit, data, refusalRowsMax),
      isOpen: true,
      charts: [
        chartOf({
          title: () => t('refusalsDrawn', { most: shownCount(display, most.refused) }),
          ends: [],
          series: [{ kind: 'bar', tone: 'down', points }],
        }),
      ],
      rows: data.map(({ operatorName, code, refused, lastAt }) => ({
        href: address(`/requests?${new URLSearchParams({ operator: operatorName, code })}`),
        ...rowWith({
          operator: text(operatorName),
          code: { kind: 'code', text: code },
          refusals: text(refused),
          lastAt: ago(lastAt),
        }),
      })),
    },
  ]
}
