// Operations.

import { type Input, invalid, operations, type PlayDay, Rejection } from '@backoffice/contracts'
import { fitting, handle, toPage } from '@backoffice/service-runtime'
import { isSettled } from '../statement/records.ts'
import { transferIdOf } from '../statement/views.ts'
import { findClosedDays, findDays, sumPlay } from './days.ts'
import { listPlaysBy } from './listed-plays.ts'
import {
  countOpen,
  type Filter,
  findPlayPlace,
  findRound,
  findRoundPlace,
  listPlaysOf,
  listPlaysOfPeriod,
  listRoundsOf,
} from './team-records.ts'
import { teamPlay, teamRound } from './team-views.ts'

const notACursor = () => invalid('body', '/cursor', 'is not a cursor of this list')
/** With one more than the page has, which says whether there is another page. */
function filterOf(
  input: Input<typeof operations.wallet.listRounds> | Input<typeof operations.wallet.listPlays>,
): Filter {
  const { transactionId = null, playerId = null, brandId = null, brandIds = null, providerId = null, limit } = input
  return { transactionId, playerId, brandId, brandIds, providerId, limit: limit + 1 }
}
const asDate = (time: string | undefined) => (time === undefined ? null : new Date(time))

export const listRounds = handle(operations.wallet.listRounds, async ({ input }, { db }) => {
  const { entryId, cursor, limit, openedBefore, roundId = null, state = null } = input
  const after = cursor === undefined ? null : await findRoundPlace(db, cursor)
  if (after === undefined) throw notACursor()
  const rounds = await listRoundsOf(db, {
    ...{ ...filterOf(input), roundId, state, after, openedBefore: asDate(openedBefore) },
    transferId: entryId === undefined ? null : transferIdOf(entryId),
  })
  return toPage(rounds.map(teamRound), limit, ({ id }) => id)
})

export const recallRound = handle(operations.wallet.recallRound, async ({ input }, { db }) => {
  const { roundId, cursor = null, limit } = input
  const [round, place, plays] = await Promise.all([
    findRound(db, roundId),
    cursor === null ? null : findPlayPlace(db, cursor),
    listPlaysOf(db, roundId, { after: cursor, limit: limit + 1 }),
  ])
  if (place === undefined) throw notACursor()
  if (round === undefined) throw new Rejection('ROUND_NOT_FOUND')
  return { round: teamRound(round), ...toPage(plays.map(teamPlay), limit, ({ id }) => id) }
})

export const listPlays = handle(operations.wallet.listPlays, async ({ input }, { db }) => {
  const { outcome = null, cursor = null, limit } = input
  const filter = filterOf(input)
  if (filter.transactionId === null && filter.playerId === null && (outcome ?? 'refused') !== 'refused')
    throw invalid('body', '/outcome', 'must be refused where neither a player nor a transaction is named')
  if (cursor !== null && (await findPlayPlace(db, cursor)) === undefined) throw notACursor()
  const plays = await listPlaysBy(db, { ...filter, outcome, after: cursor })
  return toPage(plays.map(teamPlay), limit, ({ id }) => id)
})

const pairsMax = 1_000

export const countOpenRounds = handle(operations.wallet.countOpenRounds, async ({ input }, { db }) => {
  const counted = await countOpen(db, { openedBefore: asDate(input.openedBefore), limit: pairsMax })
  return { data: counted.map((one) => ({ ...one, oldestAt: one.oldestAt.toISOString() })) }
})

const daysMax = 31
const linesMax = 1_000

export const listPlayDays = handle(operations.wallet.listPlayDays, async ({ input: { brandId, from, to } }, { db }) => {
  if (to < from || to > dayAfter(from, daysMax))
    throw invalid('body', '/to', `must be a day from \`from\` on, at most ${daysMax} days later`)
  const [days, closed] = await Promise.all([findDays(db, brandId, from, to), findClosedDays(db, brandId, from, to)])
  if (days.length === 0) throw notABrand()
  const data: PlayDay[] = []
  for (const day of days) {
    const sums = closed.get(day.day) ?? (await sumPlay(db, { brandId, ...day }))
    data.push(...sums.map((line) => ({ brandId, day: day.day, ...line })))
  }
  if (data.length > linesMax) throw invalid('body', '/to', `must be sooner: there are more than ${linesMax} lines`)
  return { data }
})

const notABrand = () => invalid('body', '/brandId', 'is not a brand')

/** Of the calendar, which has no time zone. */
function dayAfter(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00.000Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

export const exportPlayDay = handle(operations.wallet.exportPlayDay, async ({ input }, { db }) => {
  const { brandId, day, cursor, limit } = input
  const [bounds] = await findDays(db, brandId, day, day)
  if (bounds === undefined) throw notABrand()
  if (!(await isSettled(db, bounds.to)))
    throw invalid(
      'body',
      '/day',
      'must have ended at least a minute ago, because plays of the last minute are still coming',
    )
  const after = cursor === undefined ? null : await findPlayPlace(db, cursor)
  if (after === undefined) throw notACursor()
  const [plays, closed] = await Promise.all([
    listPlaysOfPeriod(db, { brandId, ...bounds }, { after, limit: limit + 1 }),
    findClosedDays(db, brandId, day, day),
  ])
  const data = fitting(plays.map(teamPlay), limit)
  return {
    data,
    nextCursor: plays.length > data.length ? (data.at(-1)?.id ?? null) : null,
    sums: [...(closed.get(day) ?? (await sumPlay(db, { brandId, ...bounds })))],
  }
})
