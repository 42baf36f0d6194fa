import { fromMinorUnits, otherProviders, type PlaySums, providersToldMax, toMinorUnits } from '@backoffice/contracts'
import { Loop } from '@backoffice/process'
import type { ServiceContext } from '@backoffice/service-runtime'
import { type EndedDay, findEndedDays, insertClosedDay, sumPlay } from '../rounds/days.ts'

const batchMax = 50

/** Closes the days of brands that have ended. A service that was away closes what has ended meanwhile, day by day. */
export const dayCloser = (context: Pick<ServiceContext, 'db' | 'transact' | 'log'>, everyMs: number): Loop =>
  new Loop({
    name: 'closing days of play',
    log: context.log,
    everyMs,
    run: async () => (await closeEndedDays(context)) > 0,
  })

/** Closes the next day of each brand for which one has ended. @returns how many were closed */
export async function closeEndedDays({
  db,
  transact,
  log,
}: Pick<ServiceContext, 'db' | 'transact' | 'log'>): Promise<number> {
  let closed = 0
  for (const ended of await findEndedDays(db.reader, batchMax)) {
    try {
      if (await closeDay(transact, ended)) closed += 1
    } catch (err) {
      // The others have a day to close too.
      log.error({ err, brandId: ended.brandId, day: ended.day }, 'a day of play could not be closed; it is tried again')
    }
  }
  return closed
}

/** Writes the sums of a day, and tells the operator of a day with play in the same commit. */
const closeDay = (transact: ServiceContext['transact'], ended: EndedDay): Promise<boolean> =>
  transact(async ({ db, now, emit }) => {
    const { brandId, day } = ended
    const sums = await sumPlay(db, ended)
    const isClosed = await insertClosedDay(db, { brandId, day, sums, now })
    if (isClosed && sums.length > 0)
      emit({
        kind: 'play.day_closed',
        aggregate: brandId,
        scope: ended,
        data: { day, providers: shortened(sums), version: 1 },
      })
    return isClosed
  })

const amounts = ['bets', 'wins', 'rollbacks', 'jackpots', 'promotions', 'ggr'] as const

/** As many lines as an event has room for: those of the providers with the highest bets, and one for all others. */
export function shortened(sums: readonly PlaySums[]): PlaySums[] {
  const byBets = sums.toSorted((a, b) => (toMinorUnits(a.bets) < toMinorUnits(b.bets) ? 1 : -1))
  const [named, others] = [byBets.slice(0, providersToldMax), byBets.slice(providersToldMax)]
  const [first] = others
  if (first === undefined) return named
  const line = { ...first, providerId: otherProviders, rounds: others.reduce((sum, { rounds }) => sum + rounds, 0) }
  for (const name of amounts)
    line[name] = fromMinorUnits(others.reduce((sum, one) => sum + toMinorUnits(one[name]), 0n))
  return [...named, line]
}
