import { type Input, operations, type Reply, type TeamEntry } from '@backoffice/contracts'
import { stringify } from 'csv-stringify/sync'
import { type Column, print, titleOf, valueIn } from '../output.ts'
import { row, type Work } from '../row.ts'

const { exportStatement } = operations.wallet
type Totals = Reply<typeof exportStatement>['totals']

const columns: readonly Column<TeamEntry>[] = [
  'createdAt',
  'effectiveAt',
  ['entryId', 'id'],
  'transferId',
  'playerId',
  'type',
  'amount',
  'currency',
  'balanceAfter',
  ['reference', ({ reference }) => `${reference.type} ${reference.id}`],
]

export const statement = [
  row({
    path: 'statement export',
    operation: exportStatement,
    description: "Write a period's entries as CSV with totals: an operator's daily reconciliation",
    fixed: { limit: 1_000, cursor: undefined },
    run: exportAll,
    show: ({ totals }) => print(totalsCsv(totals)),
  }),
]

/**
 * Exports page by page, because a period may be larger than memory. Only JSON is printed at the end, because it is one
 * document.
 */
async function exportAll({ session, input, json }: Work<typeof exportStatement>) {
  const entries: TeamEntry[] = []
  if (!json) print(stringify([columns.map(titleOf)]))
  let page: Input<typeof exportStatement> = input
  for (;;) {
    const { data, nextCursor, totals } = await session.call(exportStatement, page)
    if (json) entries.push(...data)
    else print(stringify(data.map((entry) => columns.map((column) => valueIn(entry, column)))))
    if (nextCursor === null) return { data: entries, totals }
    page = { ...input, cursor: nextCursor }
  }
}

/** Below the entries, after an empty line: one row per type, then opening, net and closing, per currency. */
function totalsCsv(totals: Totals): string {
  const rows = totals.flatMap(({ currency, openingBalance, closingBalance, net, entries, byType }) => [
    ...byType.map(({ type, entries: count, amount }) => ['total', type, String(count), amount, currency]),
    ['total', 'OPENING_BALANCE', '', openingBalance, currency],
    ['total', 'NET', String(entries), net, currency],
    ['total', 'CLOSING_BALANCE', '', closingBalance, currency],
  ])
  return `\n${stringify([['total', 'type', 'entries', 'amount', 'currency'], ...rows])}`
}
