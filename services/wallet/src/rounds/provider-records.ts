// Records.

import type { IdOf } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import { type PlayRow, type RoundPlace, type RoundRow, shownPlays, shownRounds } from './team-records.ts'

/** What became of a provider's transaction. */
export async function findPlay(
  db: ReadDb,
  { providerId, brandId, kind, transactionId }: Pick<PlayRow, 'providerId' | 'brandId' | 'kind' | 'transactionId'>,
): Promise<PlayRow | undefined> {
  const [play] = await db<PlayRow>`
    with page as (
      select * from play where provider_id = ${providerId} and brand_id = ${brandId} and kind = ${kind}
        and transaction_id = ${transactionId}
    )
    ${shownPlays}
  `
  return play
}

/** Where a provider's list goes on from a round of its own in the brand. */
export async function findHeldPlace(
  db: ReadDb,
  roundId: IdOf<'round'>,
  { providerId, brandId }: Pick<RoundRow, 'providerId' | 'brandId'>,
): Promise<RoundPlace | undefined> {
  const [place] = await db<RoundPlace>`
    select opened_at, id from round where id = ${roundId} and provider_id = ${providerId} and brand_id = ${brandId}
  `
  return place
}

/** A provider's rounds in a brand, oldest first: those with its id, or those that were opened in a period. */
export function listHeldRoundsOf(
  db: ReadDb,
  { providerId, brandId }: Pick<RoundRow, 'providerId' | 'brandId'>,
  by: { readonly providerRoundId: string } | { readonly from: Date; readonly to: Date },
  { after, limit }: { readonly after: RoundPlace | null; readonly limit: number },
): Promise<RoundRow[]> {
  const found =
    'from' in by
      ? sql`r.opened_at >= ${by.from}::timestamptz and r.opened_at < ${by.to}::timestamptz`
      : sql`r.provider_round_id = ${by.providerRoundId}`
  return db<RoundRow>`
    with page as (
      select r.* from round r
      where r.provider_id = ${providerId} and r.brand_id = ${brandId} and ${found}
        and (r.opened_at, r.id) > (coalesce(${after?.openedAt ?? null}::timestamptz, '-infinity'), ${after?.id ?? ''}::text)
      order by r.opened_at, r.id limit ${limit}
    ), shown as (${shownRounds}) select * from shown order by opened_at, id
  `
}
