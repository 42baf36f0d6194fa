import { randomBytes } from 'node:crypto'
import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'
import { type PlayerAccount, type SystemAccountKind, systemKey, type Target } from '../domain/posting.ts'

const genesisBytes = 32

/** Opens the accounts that are not there yet; those that are stay as they are. */
export async function openPlayerAccounts(connection: Sql, targets: readonly Target[], now: Date): Promise<void> {
  await sql`
    insert into account (brand_id, owner_id, kind, currency, genesis, head, created_at, updated_at)
    select t.brand_id, t.owner_id, 'player', t.currency, decode(t.genesis, 'hex'), decode(t.genesis, 'hex'),
      ${now}::timestamptz, ${now}::timestamptz
    from unnest(
      ${targets.map(({ brandId }) => brandId)}::text[], ${targets.map(({ playerId }) => playerId)}::text[],
      ${targets.map(({ currency }) => currency)}::text[],
      ${targets.map(() => randomBytes(genesisBytes).toString('hex'))}::text[]
    ) as t (brand_id, owner_id, currency, genesis)
    order by t.brand_id, t.owner_id
    on conflict do nothing
  `.execute(connection)
}

/** Opens a brand's system account when it is missing. Its id never changes. */
export async function openSystemAccount(
  connection: Sql,
  account: { readonly brandId: string; readonly kind: SystemAccountKind; readonly currency: string },
  now: Date,
): Promise<bigint> {
  const { brandId, kind, currency } = account
  const find = sql<{ id: string }>`
    select id from account where brand_id = ${brandId} and kind = ${kind} and currency = ${currency} and owner_id is null
  `
  const known = (await find.execute(connection)).rows[0]
  if (known !== undefined) return BigInt(known.id)
  await sql`
    insert into account (brand_id, kind, currency, genesis, head, created_at, updated_at)
    values (${brandId}, ${kind}, ${currency}, '', '', ${now}::timestamptz, ${now}::timestamptz)
    on conflict do nothing
  `.execute(connection)
  const opened = (await find.execute(connection)).rows[0]
  if (opened === undefined) throw new Error(`could not open the system account ${systemKey(brandId, kind, currency)}`)
  return BigInt(opened.id)
}

interface AccountRow {
  readonly id: string
  readonly brandId: string
  readonly playerId: string
  readonly currency: string
  readonly posted: string
  readonly held: string
  readonly seq: string
  readonly head: Buffer
}

/**
 * Locks players' accounts until the end of the transaction, in id order, so that two batches cannot deadlock. Answers
 * those that exist, as they are after the wait for other batches.
 */
export async function lockPlayerAccounts(connection: Sql, targets: readonly Target[]): Promise<PlayerAccount[]> {
  const { rows } = await sql<AccountRow>`
    select a.id, a.brand_id as "brandId", a.owner_id as "playerId", a.currency, a.posted, a.held, a.seq, a.head
    from unnest(${targets.map(({ brandId }) => brandId)}::text[], ${targets.map(({ playerId }) => playerId)}::text[])
      as t (brand_id, owner_id)
    join account a on a.brand_id = t.brand_id and a.owner_id = t.owner_id
    order by a.id
    for no key update of a
  `.execute(connection)
  return rows.map((row) => ({
    ...row,
    id: BigInt(row.id),
    posted: BigInt(row.posted),
    held: BigInt(row.held),
    seq: BigInt(row.seq),
  }))
}
