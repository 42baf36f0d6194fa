// Records.

import { type ReadDb, sql } from '@backoffice/service-runtime'
import { type Filter, isOfPair, type PlayRow, pairsOf, playsNamed, shownPlays } from './team-records.ts'

interface PlayFilter extends Filter {
  readonly outcome: PlayRow['outcome'] | null
  /** The last play of the page before. */
  readonly after: string | null
}

/** The newest plays of a filter. Without a player or a transaction: of those that were refused, which have an index. */
export function listPlaysBy(db: ReadDb, filter: PlayFilter): Promise<PlayRow[]> {
  const { transactionId, playerId, outcome, after, limit } = filter
  // Ids begin with their time.
  const before = sql`p.id < coalesce(${after}::text, '~')`
  const filtered = sql`
    ${isOfPair('p', filter)} and (${outcome}::text is null or p.outcome = ${outcome}) and ${before}
    order by p.id desc limit ${limit}
  `
  const account = sql`(select id from account where owner_id = ${playerId})`
  if (transactionId !== null)
    return db<PlayRow>`
      with recursive ${pairsOf(filter)}, page as (
        -- By an array, of which the planner does not expect many.
        select p.* from play p where p.id = any(array(
          select p.id from (${playsNamed(transactionId)}) p
          where (${playerId}::text is null or p.account_id = ${account}) and ${filtered}
        ))
      ) ${shownPlays} order by p.id desc
    `
  if (playerId !== null)
    return db<PlayRow>`
      with page as (select p.* from play p where p.account_id = ${account} and ${filtered})
      ${shownPlays} order by p.id desc
    `
  const ofPair = (most: number) => sql`
    pair cross join lateral (
      select p.* from play p
      where p.provider_id = pair.provider_id and p.brand_id = pair.brand_id and p.outcome = 'refused' and ${before}
      order by p.id desc limit ${most}
    ) p
  `
  return db<PlayRow>`
    with recursive ${pairsOf(filter)}, newest as (
      -- As rounds are listed: see listRoundsOf.
      select pair.* from ${ofPair(1)} where ${isOfPair('pair', filter)} order by p.id desc limit ${limit}
    ), page as (
      select p.* from newest ${ofPair(limit)} order by p.id desc limit ${limit}
    ) ${shownPlays} order by p.id desc
  `
}
