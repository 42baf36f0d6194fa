import type { Input, Reply } from './operation.ts'
import type { TeamEntry, wallet } from './operations/wallet.ts'

type Statement = (typeof wallet)['exportStatement']
type Totals = Reply<Statement>['totals']

/** The columns of ledger entries as CSV, with what each entry has there: on the command line and in the console. */
const entryColumns: Readonly<Record<string, (entry: TeamEntry) => string>> = {
  createdAt: ({ createdAt }) => createdAt,
  effectiveAt: ({ effectiveAt }) => effectiveAt,
  entryId: ({ id }) => id,
  transferId: ({ transferId }) => transferId,
  playerId: ({ playerId }) => playerId,
  type: ({ type }) => type,
  amount: ({ amount }) => amount,
  currency: ({ currency }) => currency,
  balanceAfter: ({ balanceAfter }) => balanceAfter,
  reference: ({ reference }) => `${reference.type} ${reference.id}`,
}

export const entryTitles: readonly string[] = Object.keys(entryColumns)
/** An entry as a row of texts, in the order of `entryTitles`. */
export const entryCells = (entry: TeamEntry): readonly string[] =>
  Object.values(entryColumns).map((valueIn) => valueIn(entry))

/** How many entries are read at once. A period may be larger than memory. */
const entriesOnPage = 1_000

/** A statement page by page. Each page has the totals of the whole period. */
export async function* readStatement(
  call: (input: Input<Statement>) => Promise<Reply<Statement>>,
  period: Pick<Input<Statement>, 'brandId' | 'from' | 'to'>,
): AsyncGenerator<Reply<Statement>> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await call({ ...period, limit: entriesOnPage, ...(cursor === undefined ? {} : { cursor }) })
    yield page
    cursor = page.nextCursor
  }
}

/**
 * A statement as the rows of a CSV file, page by page. Below the entries, after an empty line: one row per type, then
 * opening, net and closing, per currency.
 */
export async function* statementRows(
  pages: AsyncIterable<Reply<Statement>>,
): AsyncGenerator<readonly (readonly string[])[]> {
  yield [entryTitles]
  let totals: Totals = []
  for await (const page of pages) {
    yield page.data.map(entryCells)
    totals = page.totals
  }
  yield [[], ['total', 'type', 'entries', 'amount', 'currency'], ...totals.flatMap(totalsRows)]
}

const totalsRows = ({ currency, openingBalance, closingBalance, net, entries, byType }: Totals[number]) => [
  ...byType.map(({ type, entries: count, amount }) => ['total', type, String(count), amount, currency]),
  ['total', 'OPENING_BALANCE', '', openingBalance, currency],
  ['total', 'NET', String(entries), net, currency],
  ['total', 'CLOSING_BALANCE', '', closingBalance, currency],
]
