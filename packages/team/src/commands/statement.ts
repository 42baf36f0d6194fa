import { operations, readStatement, statementRows } from '@backoffice/contracts'
import { stringify } from 'csv-stringify/sync'
import { print } from '../output.ts'
import { row, type Work } from '../row.ts'

const { exportStatement } = operations.wallet

export const statement = [
  row({
    path: 'statement export',
    operation: exportStatement,
    description: "Write a period's entries as CSV with totals: an operator's daily reconciliation",
    fixed: { limit: undefined, cursor: undefined },
    run: exportAll,
    // The CSV is printed already.
    show: () => {},
  }),
]

/** Exports page by page, because a period may be larger than memory. JSON is one document, so it is printed at the end. */
async function exportAll({ session, input, json }: Work<typeof exportStatement>) {
  const pages = readStatement((page) => session.call(exportStatement, page), input)
  if (!json) {
    for await (const rows of statementRows(pages)) print(stringify([...rows]))
    return {}
  }
  const read = await Array.fromAsync(pages)
  return { data: read.flatMap(({ data }) => data), totals: read.at(-1)?.totals ?? [] }
}
