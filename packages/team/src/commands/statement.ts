import { operations, type TeamEntry } from '@backoffice/contracts'
import type { Command } from 'commander'
import { stringify } from 'csv-stringify/sync'
import { type BrandOptions, common, moment, ofBrand } from '../leaf.ts'
import { printJson } from '../output.ts'
import { Session } from '../session.ts'

const { exportStatement } = operations.wallet
const pageSize = 1_000

interface ExportOptions extends BrandOptions {
  readonly from: string
  readonly to: string
}

const columns = [
  'createdAt',
  'effectiveAt',
  'entryId',
  'transferId',
  'playerId',
  'type',
  'amount',
  'currency',
  'balanceAfter',
  'reference',
] as const

const toRow = (entry: TeamEntry): string[] => [
  entry.createdAt,
  entry.effectiveAt,
  entry.id,
  entry.transferId,
  entry.playerId,
  entry.type,
  entry.amount,
  entry.currency,
  entry.balanceAfter,
  `${entry.reference.type} ${entry.reference.id}`,
]

export function addStatement(root: Command): void {
  const statement = root.command('statement').description("An operator's ledger")
  ofBrand(common(statement.command('export')))
    .description("Write a period's entries as CSV with totals: an operator's daily reconciliation")
    .requiredOption('--from <time>', 'date or ISO 8601 time, included', moment)
    .requiredOption('--to <time>', 'date or ISO 8601 time, not included', moment)
    .action(exportAll)
}

/** Page by page: a period may hold more than a process should. */
async function exportAll(options: ExportOptions): Promise<void> {
  const session = await Session.open(options)
  try {
    const { id: brandId } = await session.brand(options.operator, options.env)
    const entries: TeamEntry[] = []
    let cursor: string | null | undefined
    if (!options.json) process.stdout.write(stringify([[...columns]]))
    for (;;) {
      const page = { brandId, from: options.from, to: options.to, limit: pageSize, ...(cursor ? { cursor } : {}) }
      const { data, nextCursor, totals } = await session.ask(exportStatement, page)
      if (options.json) entries.push(...data)
      else process.stdout.write(stringify(data.map(toRow)))
      cursor = nextCursor
      if (cursor !== null) continue
      if (options.json) printJson({ data: entries, totals })
      else process.stdout.write(totalsCsv(totals))
      return
    }
  } finally {
    await session.close()
  }
}

type Totals = {
  currency: string
  openingBalance: string
  closingBalance: string
  net: string
  entries: number
  byType: { type: string; entries: number; amount: string }[]
}[]

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
