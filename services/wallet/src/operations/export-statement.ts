import { fromMinorUnits, invalid, operations } from '@backoffice/contracts'
import { fitting, handle } from '@backoffice/service-runtime'
import {
  isSettled,
  listEntriesOfPeriod,
  type PeriodPlace,
  type PeriodTotals,
  type StatementEntry,
  sumPeriod,
} from '../storage/statement.ts'
import { teamEntry } from '../views/entry.ts'

export const exportStatement = handle(operations.wallet.exportStatement, async ({ input }, { db }) => {
  const { brandId, cursor, limit } = input
  const period = { brandId, from: new Date(input.from), to: new Date(input.to) }
  if (!(await isSettled(db, period.to)))
    throw invalid('body', '/to', 'must be at least a minute ago, because entries of the last minute are still coming')
  const after = cursor === undefined ? null : placeOf(cursor)
  const [entries, totals] = await Promise.all([
    listEntriesOfPeriod(db, period, { after, limit: limit + 1 }),
    sumPeriod(db, period),
  ])
  const data = fitting(entries.map(teamEntry), limit)
  const last = entries[data.length - 1]
  return {
    data,
    nextCursor: entries.length > data.length && last !== undefined ? cursorAt(last) : null,
    totals: totals.map(totalsOf),
  }
})

/** The team's cursor in a period. It may be readable, because the team may see every entry. */
const cursorAt = ({ createdAt, transferId }: StatementEntry) => `${createdAt.toISOString()}/${transferId}`

function placeOf(cursor: string): PeriodPlace {
  const [, time = '', transferId = ''] = /^([^/]+)\/([^/]+)$/.exec(cursor) ?? []
  const createdAt = new Date(time)
  if (transferId === '' || Number.isNaN(createdAt.getTime()))
    throw invalid('body', '/cursor', 'is not a cursor of a statement')
  return { createdAt, transferId }
}

function totalsOf({ currency, posted, sinceFrom, sinceTo, byType }: PeriodTotals) {
  return {
    currency,
    openingBalance: fromMinorUnits(posted - sinceFrom),
    byType: byType.map((line) => ({ ...line, amount: fromMinorUnits(line.amount) })),
    entries: byType.reduce((sum, { entries }) => sum + entries, 0),
    net: fromMinorUnits(sinceFrom - sinceTo),
    closingBalance: fromMinorUnits(posted - sinceTo),
  }
}
