import type { Input, Reply } from './operation.ts'
import type { PlaySums, TeamPlay } from './operations/rounds.ts'
import type { wallet } from './operations/wallet.ts'

type PlayDay = (typeof wallet)['exportPlayDay']

/** The columns of plays as CSV, with what each play has there: on the command line and in the console. */
const playColumns: Readonly<Record<string, (play: TeamPlay) => string | null>> = {
  createdAt: ({ createdAt }) => createdAt,
  providerTime: ({ providerTime }) => providerTime,
  playId: ({ id }) => id,
  providerId: ({ providerId }) => providerId,
  transactionId: ({ transactionId }) => transactionId,
  kind: ({ kind }) => kind,
  winKind: ({ winKind }) => winKind,
  isSpin: ({ isSpin }) => String(isSpin),
  outcome: ({ outcome, code }) => code ?? outcome,
  betTransactionId: ({ betTransactionId }) => betTransactionId,
  round: ({ round }) => round,
  providerRoundId: ({ roundId }) => roundId,
  roundOpenedAt: ({ roundOpenedAt }) => roundOpenedAt,
  playerId: ({ playerId }) => playerId,
  sessionId: ({ sessionId }) => sessionId,
  gameId: ({ gameId }) => gameId,
  campaignId: ({ campaignId }) => campaignId,
  requestedAmount: ({ requestedAmount }) => requestedAmount,
  amount: ({ amount }) => amount,
  currency: ({ currency }) => currency,
  balanceBefore: ({ balanceBefore }) => balanceBefore,
  balanceAfter: ({ balanceAfter }) => balanceAfter,
  entryId: ({ entryId }) => entryId,
}

export const playTitles: readonly string[] = Object.keys(playColumns)
/** A play as a row of texts, in the order of `playTitles`. */
export const playCells = (play: TeamPlay): readonly string[] =>
  Object.values(playColumns).map((valueIn) => valueIn(play) ?? '')

/** How many plays are read at once. A day may be larger than memory. */
const playsOnPage = 1_000

/** A day of a brand page by page. Each page has the sums of the whole day. */
export async function* readPlayDay(
  call: (input: Input<PlayDay>) => Promise<Reply<PlayDay>>,
  { brandId, day }: Pick<Input<PlayDay>, 'brandId' | 'day'>,
): AsyncGenerator<Reply<PlayDay>> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await call({ brandId, day, limit: playsOnPage, ...(cursor === undefined ? {} : { cursor }) })
    yield page
    cursor = page.nextCursor
  }
}

const sumTitles = ['bets', 'wins', 'rollbacks', 'jackpots', 'promotions', 'ggr'] as const

/**
 * A day as the rows of a CSV file, page by page. Below the plays, after an empty line: the sums of the ledger, a row for each
 * provider and currency.
 */
export async function* playDayRows(
  pages: AsyncIterable<Reply<PlayDay>>,
): AsyncGenerator<readonly (readonly string[])[]> {
  yield [playTitles]
  let sums: readonly PlaySums[] = []
  for await (const page of pages) {
    yield page.data.map(playCells)
    sums = page.sums
  }
  yield [[], ['ledger', 'providerId', 'currency', 'rounds', ...sumTitles], ...sums.map(sumCells)]
}

const sumCells = (sums: PlaySums) => [
  'ledger',
  sums.providerId,
  sums.currency,
  String(sums.rounds),
  ...sumTitles.map((title) => sums[title]),
]
