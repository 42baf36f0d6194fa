import { randomBytes } from 'node:crypto'
import type { Scope } from '@backoffice/contracts'
import { type Db, type ReadDb, sql, unnest } from '@backoffice/service-runtime'
import { brandKey, type PlayerAccount, type SystemAccountKind, systemKey, type Target } from '../domain/posting.ts'

const genesisBytes = 32

/** Opens the accounts that do not exist yet, and leaves the others as they are. */
export async function openPlayerAccounts(db: Db, targets: readonly Target[], now: Date): Promise<void> {
  const accounts = targets.map((target) => ({ ...target, genesis: randomBytes(genesisBytes) }))
  await db`
    insert into account (brand_id, owner_id, kind, currency, genesis, head, created_at, updated_at)
    select brand_id, player_id, 'player', currency, genesis, genesis, ${now}::timestamptz, ${now}::timestamptz
    from ${unnest('new', accounts, 'brand_id text, player_id text, currency text, genesis bytea')}
    order by brand_id, player_id
    on conflict do nothing
  `
}

interface SystemAccount {
  readonly brandId: string
  readonly kind: SystemAccountKind
  readonly currency: string
}

/** Opens a brand's system account when it is missing. Its id never changes. */
export async function openSystemAccount(db: Db, account: SystemAccount, now: Date): Promise<bigint> {
  const { brandId, kind, currency } = account
  const known = await findSystemAccount(db, account)
  if (known !== undefined) return known
  await db`
    insert into account (brand_id, kind, currency, genesis, head, created_at, updated_at)
    values (${brandId}, ${kind}, ${currency}, '', '', ${now}::timestamptz, ${now}::timestamptz)
    on conflict do nothing
  `
  const opened = await findSystemAccount(db, account)
  if (opened === undefined) throw new Error(`could not open the system account ${systemKey(brandId, kind, currency)}`)
  return opened
}

async function findSystemAccount(db: ReadDb, { brandId, kind, currency }: SystemAccount): Promise<bigint | undefined> {
  const rows = await db<{ id: bigint }>`
    select id from account where brand_id = ${brandId} and kind = ${kind} and currency = ${currency} and owner_id is null
  `
  return rows[0]?.id
}

type PlayerKey = Pick<Target, 'brandId' | 'playerId'>

/** The player that a call of an operator names. */
export const playerOf = ({ input, scope }: { input: { readonly playerId: string }; scope: Scope }): PlayerKey => ({
  brandId: scope.brandId,
  playerId: input.playerId,
})

/** The accounts of players, as `a`. */
const accountsOf = (players: readonly PlayerKey[]) => sql`
  ${unnest('asked', players, 'brand_id text, player_id text')}
  join account a on a.brand_id = asked.brand_id and a.owner_id = asked.player_id
`

/**
 * Locks players' accounts until the end of the transaction, in id order, so that two batches cannot deadlock.
 * @returns those that exist, as they are after waiting for other batches
 */
export function lockPlayerAccounts(db: Db, targets: readonly Target[]): Promise<PlayerAccount[]> {
  return db<PlayerAccount>`
    select a.id, a.brand_id, a.owner_id as player_id, a.currency, a.posted, a.held, a.seq, a.head
    from ${accountsOf(targets)} order by a.id for no key update of a
  `
}

/** A player's account as it is shown. */
export interface Balance {
  readonly brandId: string
  readonly playerId: string
  readonly currency: string
  readonly posted: bigint
  readonly held: bigint
  readonly updatedAt: Date
}

const balanceColumns = sql`a.brand_id, a.owner_id as player_id, a.currency, a.posted, a.held, a.updated_at`

/** Players' accounts in the order asked for; undefined where a brand has no such player. */
export async function findBalances(db: ReadDb, players: readonly PlayerKey[]): Promise<(Balance | undefined)[]> {
  const rows = await db<Balance>`select ${balanceColumns} from ${accountsOf(players)}`
  const byPlayer = new Map(rows.map((row) => [brandKey(row.brandId, row.playerId), row]))
  return players.map(({ brandId, playerId }) => byPlayer.get(brandKey(brandId, playerId)))
}

/** The account of a player, for the team, which does not name the brand. */
export async function findBalanceOfPlayer(db: ReadDb, playerId: string): Promise<Balance | undefined> {
  const rows = await db<Balance>`select ${balanceColumns} from account a where owner_id = ${playerId}`
  if (rows.length > 1) throw new Error(`player ${playerId} has an account in more than one brand`)
  return rows[0]
}
