import { randomBytes } from 'node:crypto'
import type { Scope } from '@backoffice/contracts'
import { type Db, type ReadDb, sql, unnest } from '@backoffice/service-runtime'
import type { LedgerState } from '../domain/decide.ts'
import { brandKey, type PlayerAccount, type SystemAccountKind, systemKey, type Target } from '../domain/posting.ts'

const genesisBytes = 32

/**
 * Opens the accounts that do not exist yet, and leaves the others as they are.
 * @throws a unique violation where a player has its account in another brand
 */
export async function openPlayerAccounts(db: Db, targets: readonly Target[]): Promise<void> {
  const accounts = targets.map((target) => ({ ...target, genesis: randomBytes(genesisBytes) }))
  await db`
    insert into account (brand_id, owner_id, kind, currency, genesis, head, created_at, updated_at)
    select brand_id, player_id, 'player', currency, genesis, genesis, now(), now()
    from ${unnest('new', accounts, 'brand_id text, player_id text, currency text, genesis bytea')}
    order by brand_id, player_id
    on conflict (brand_id, owner_id) where owner_id is not null do nothing
  `
}

/** The two accounts of a posting: the player's, and the brand's of a kind, which a hold and a release do without. */
export interface Sides extends Target {
  readonly kind: SystemAccountKind | null
}

/** Opens what the sides lack. */
export async function openAccounts(db: Db, sides: readonly Sides[]): Promise<void> {
  await openPlayerAccounts(db, sides)
  const ofBrands = sides.filter(({ kind }) => kind !== null)
  await db`
    insert into account (brand_id, kind, currency, genesis, head, created_at, updated_at)
    select distinct brand_id, kind, currency, ''::bytea, ''::bytea, now(), now()
    from ${unnest('new', ofBrands, 'brand_id text, kind text, currency text')}
    order by brand_id, kind, currency
    on conflict do nothing
  `
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

/** Accounts of a batch: those of the players, locked, and the ids of the brands' own. */
export interface LockedAccounts extends Pick<LedgerState, 'accounts' | 'systemAccounts'> {
  /** When the transaction began. */
  readonly now: Date
}

interface LockedRow extends PlayerAccount, Pick<Sides, 'kind'> {
  /** In which the posting is. */
  readonly asked: string
  readonly systemId: bigint | null
  readonly now: Date
}

/**
 * Locks players' accounts until the end of the transaction, in id order, so that two batches cannot deadlock, and finds
 * the brands' accounts beside them. Their ids do not change either, and yet none is remembered: a standby that is promoted
 * may have lost the transaction that opened one, and gives its id to another account.
 * @returns them as they are after waiting for other batches; undefined when one does not exist
 */
export async function lockAccounts(db: Db, sides: readonly Sides[]): Promise<LockedAccounts | undefined> {
  const rows = await db<LockedRow>`
    select a.id, a.brand_id, a.owner_id as player_id, a.currency, a.posted, a.held, a.seq, a.head, asked.kind,
      asked.currency as asked, s.id as system_id, now() as now
    from ${unnest('asked', sides, 'brand_id text, player_id text, kind text, currency text')}
    join account a on a.brand_id = asked.brand_id and a.owner_id = asked.player_id
    left join account s
      on s.brand_id = asked.brand_id and s.kind = asked.kind and s.currency = asked.currency and s.owner_id is null
    order by a.id for no key update of a
  `
  const accounts = new Map<string, PlayerAccount>()
  const systemAccounts = new Map<string, bigint>()
  for (const { kind, asked, systemId, now: _, ...account } of rows) {
    accounts.set(brandKey(account.brandId, account.playerId), account)
    if (kind === null) continue
    if (systemId === null) return undefined
    systemAccounts.set(systemKey(account.brandId, kind, asked), systemId)
  }
  const [first] = rows
  return first === undefined || rows.length < sides.length ? undefined : { accounts, systemAccounts, now: first.now }
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
