// Records.

import { fromMinorUnits, type HeldWin, type IdOf } from '@backoffice/contracts'
import { type Db, type ReadDb, sql } from '@backoffice/service-runtime'
import type { Static } from '@sinclair/typebox'
import type { HeldWinRow, WinKey } from './play.ts'

type Row = Omit<HeldWinRow, 'accountId'> & {
  readonly playerId: IdOf<'player'>
  readonly currency: string
  readonly releasedAt: Date | null
}

/** As the team reads it. */
function shown({ providerRoundId, amount, firstAt, releasedAt, ...win }: Row): Static<typeof HeldWin> {
  return {
    ...win,
    roundId: providerRoundId,
    amount: fromMinorUnits(amount),
    firstAt: firstAt.toISOString(),
    releasedAt: releasedAt?.toISOString() ?? null,
  }
}

const heldWins = sql`
  select h.provider_id, h.brand_id, h.transaction_id, a.owner_id as player_id, h.provider_round_id, h.amount, a.currency,
    h.first_at, h.released_at
  from held_win h join account a on a.id = h.account_id
`

/** The wins that wait, the oldest first, behind that of a place. What was paid meanwhile, because its limit rose, waits no more. */
export async function listWaitingWins(
  db: ReadDb,
  { after, limit, ...of }: Partial<WinKey> & { readonly after: WinKey | null; readonly limit: number },
): Promise<Static<typeof HeldWin>[]> {
  const { providerId = null, brandId = null, transactionId = null } = after ?? {}
  const rows = await db<Row>`
    ${heldWins}
    where h.released_at is null and h.provider_id = coalesce(${of.providerId ?? null}, h.provider_id)
      and h.brand_id = coalesce(${of.brandId ?? null}, h.brand_id)
      and h.transaction_id = coalesce(${of.transactionId ?? null}, h.transaction_id) and not exists (
      select from play p where p.provider_id = h.provider_id and p.brand_id = h.brand_id and p.kind = 'win'
        and p.transaction_id = h.transaction_id
    ) and (${providerId}::text is null or (h.first_at, h.provider_id, h.brand_id, h.transaction_id) > (
      select first_at, provider_id, brand_id, transaction_id from held_win
      where provider_id = ${providerId} and brand_id = ${brandId} and transaction_id = ${transactionId}
    ))
    order by h.first_at, h.provider_id, h.brand_id, h.transaction_id limit ${limit}
  `
  return rows.map(shown)
}

/** Locks a win that waits; undefined when none does. */
export async function lockWaitingWin(
  db: ReadDb,
  { providerId, brandId, transactionId }: WinKey,
): Promise<Static<typeof HeldWin> | undefined> {
  const [row] = await db<Row>`
    ${heldWins}
    where h.provider_id = ${providerId} and h.brand_id = ${brandId} and h.transaction_id = ${transactionId}
      and h.released_at is null
    for no key update of h
  `
  return row && shown(row)
}

export async function releaseHeldWin(db: Db, { providerId, brandId, transactionId }: WinKey, now: Date): Promise<void> {
  await db`
    update held_win set released_at = ${now}::timestamptz
    where provider_id = ${providerId} and brand_id = ${brandId} and transaction_id = ${transactionId}
  `
}

interface WinLimitRow extends LimitKey {
  readonly maxWin: bigint
}

type LimitKey = Pick<WinKey, 'providerId' | 'brandId'>

export const listLimits = (
  db: ReadDb,
  {
    providerId,
    brandId,
    after,
    limit,
  }: Partial<LimitKey> & { readonly after: LimitKey | undefined; readonly limit: number },
): Promise<WinLimitRow[]> =>
  db<WinLimitRow>`
    select provider_id, brand_id, max_win from win_limit
    where (provider_id, brand_id) > (${after?.providerId ?? ''}, ${after?.brandId ?? ''})
      and provider_id = coalesce(${providerId ?? null}, provider_id) and brand_id = coalesce(${brandId ?? null}, brand_id)
    order by provider_id, brand_id limit ${limit}
  `

/** The limit of a provider in a brand, locked; undefined where none was set. */
export async function lockLimit(db: ReadDb, { providerId, brandId }: LimitKey): Promise<bigint | undefined> {
  const [row] = await db<{ maxWin: bigint }>`
    select max_win from win_limit where provider_id = ${providerId} and brand_id = ${brandId} for update
  `
  return row?.maxWin
}

export async function saveLimit(db: Db, { providerId, brandId, maxWin }: WinLimitRow): Promise<void> {
  await db`
    insert into win_limit (provider_id, brand_id, max_win) values (${providerId}, ${brandId}, ${maxWin})
    on conflict (provider_id, brand_id) do update set max_win = excluded.max_win
  `
}
