import { randomBytes } from 'node:crypto'
import { type Environment, fromMinorUnits, type IdOf, type Scope } from '@backoffice/contracts'
import { type Db, type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import { readPlays, writtenPlays } from '../rounds/records.ts'
import { brandKey, systemKey } from './decide.ts'
import type {
  AccountTarget,
  Changes,
  Hold,
  LedgerState,
  PlayerAccount,
  Posting,
  SystemAccountKind,
  Transfer,
} from './posting.ts'

const genesisBytes = 32

/**
 * Opens the accounts that do not exist yet, and leaves the others as they are.
 * @throws a unique violation where a player has its account in another brand
 */
export async function openPlayerAccounts(db: Db, targets: readonly AccountTarget[]): Promise<void> {
  const accounts = targets.map((target) => ({ ...target, genesis: randomBytes(genesisBytes) }))
  await db`
    insert into account (brand_id, owner_id, kind, currency, genesis, head, created_at, updated_at)
    select brand_id, player_id, 'player', currency, genesis, genesis, now(), now()
    from ${sql.unnest('new', accounts, 'brand_id text, player_id text, currency text, genesis bytea')}
    order by brand_id, player_id
    on conflict (brand_id, owner_id) where owner_id is not null do nothing
  `
}

/** The two accounts of a posting: the player's, and the brand's of a kind, which a hold and a release do without. */
export interface Sides extends AccountTarget {
  readonly kind: SystemAccountKind | null
  /** The provider of games that the brand's account is for; empty where it is for none. */
  readonly party: string
  /** Whether the player's account is opened if it is not there. */
  readonly opensPlayer: boolean
}

/** Opens what the sides lack. */
export async function openAccounts(db: Db, sides: readonly Sides[]): Promise<void> {
  await openPlayerAccounts(
    db,
    sides.filter(({ opensPlayer }) => opensPlayer),
  )
  const ofBrands = sides.filter(({ kind }) => kind !== null)
  await db`
    insert into account (brand_id, kind, party, currency, genesis, head, created_at, updated_at)
    select distinct brand_id, kind, party, currency, ''::bytea, ''::bytea, now(), now()
    from ${sql.unnest('new', ofBrands, 'brand_id text, kind text, party text, currency text')}
    order by brand_id, kind, party, currency
    on conflict do nothing
  `
}

type AccountOwner = Pick<AccountTarget, 'brandId' | 'playerId'>

/** The player that a call of an operator names. */
export const playerOf = ({ input, scope }: { input: Pick<AccountOwner, 'playerId'>; scope: Scope }): AccountOwner => ({
  brandId: scope.brandId,
  playerId: input.playerId,
})

/** The accounts of players, as `a`. */
const accountsOf = (players: readonly AccountOwner[]) => sql`
  ${sql.unnest('asked', players, 'brand_id text, player_id text')}
  join account a on a.brand_id = asked.brand_id and a.owner_id = asked.player_id
`

/** Accounts of a batch: those of the players, locked, and the ids of the brands' own. */
export interface LockedAccounts extends Pick<LedgerState, 'accounts' | 'systemAccounts'> {
  /** When the transaction began. */
  readonly now: Date
}

interface LockedRow extends PlayerAccount, Pick<Sides, 'kind' | 'party'> {
  /** In which the posting is. */
  readonly asked: string
  readonly systemId: bigint | null
  readonly now: Date
}

/**
 * Locks players' accounts until the end of the transaction, in id order, so that two batches cannot deadlock, and finds
 * the brands' accounts beside them. Their ids do not change either, and yet none is remembered: a standby that is promoted
 * may have lost the transaction that opened one, and gives its id to another account.
 * @returns them as they are after waiting for other batches; undefined when one has to be opened. A player that only a
 *   provider of games names may have none
 */
export async function lockAccounts(db: Db, sides: readonly Sides[]): Promise<LockedAccounts | undefined> {
  const rows = await db<LockedRow>`
    select a.id, a.brand_id, a.owner_id as player_id, a.currency, a.posted, a.held, a.seq, a.head, asked.kind,
      asked.party, asked.currency as asked, s.id as system_id, now() as now
    from ${sql.unnest('asked', sides, 'brand_id text, player_id text, kind text, party text, currency text')}
    join account a on a.brand_id = asked.brand_id and a.owner_id = asked.player_id
    left join account s on s.brand_id = asked.brand_id and s.kind = asked.kind and s.currency = asked.currency
      and s.party = asked.party and s.owner_id is null
    order by a.id for no key update of a
  `
  const accounts = new Map<string, PlayerAccount>()
  const systemAccounts = new Map<string, bigint>()
  for (const { kind, party, asked, systemId, now: _, ...account } of rows) {
    accounts.set(brandKey(account.brandId, account.playerId), account)
    if (kind === null) continue
    if (systemId === null) return undefined
    systemAccounts.set(systemKey(account.brandId, kind, asked, party), systemId)
  }
  const isMissing = ({ brandId, playerId, opensPlayer }: Sides) =>
    opensPlayer && !accounts.has(brandKey(brandId, playerId))
  if (rows.length < sides.length && sides.some(isMissing)) return undefined
  // Without an account nothing is posted, and nothing needs the time.
  return { accounts, systemAccounts, now: rows[0]?.now ?? new Date(0) }
}

/** A player's account as it is shown. */
export interface Balance extends AccountTarget {
  readonly posted: bigint
  readonly held: bigint
  readonly updatedAt: Date
}

const balanceColumns = sql`a.brand_id, a.owner_id as player_id, a.currency, a.posted, a.held, a.updated_at`

/** Players' accounts in the order asked for; undefined where a brand has no such player. */
export async function findBalances(db: ReadDb, players: readonly AccountOwner[]): Promise<(Balance | undefined)[]> {
  const rows = await db<Balance>`select ${balanceColumns} from ${accountsOf(players)}`
  const byPlayer = new Map(rows.map((row) => [brandKey(row.brandId, row.playerId), row]))
  return players.map(({ brandId, playerId }) => byPlayer.get(brandKey(brandId, playerId)))
}

/** The account of a player, for the team, which does not name the brand. */
export async function findBalanceOfPlayer(db: ReadDb, playerId: IdOf<'player'>): Promise<Balance | undefined> {
  const rows = await db<Balance>`select ${balanceColumns} from account a where owner_id = ${playerId}`
  if (rows.length > 1) throw new Error(`player ${playerId} has an account in more than one brand`)
  return rows[0]
}

const holdColumns = `
  brand_id text, reference text, account_id bigint, amount bigint, state text, transfer_id text, opened_at timestamptz,
  closed_at timestamptz
`

/**
 * What is stored under the references of a batch. The statements are sent behind the locks', so that they see what was
 * committed while the locks were waited for.
 */
export async function readKnown(
  db: ReadDb,
  batch: readonly Posting[],
): Promise<Pick<LedgerState, 'transfers' | 'holds' | 'reversed' | 'play'>> {
  const reverses = batch.flatMap((posting) =>
    (posting.kind === 'credit' || posting.kind === 'debit') && posting.reverses !== undefined ? [posting.reverses] : [],
  )
  const ofKinds = <Kind extends Posting['kind']>(...kinds: Kind[]) =>
    batch.filter((posting): posting is Posting & { kind: Kind } => kinds.includes(posting.kind as Kind))
  const plays = batch.flatMap((posting) => (posting.kind === 'play' ? [posting] : []))
  const [transfers, holds, reversed, play] = await Promise.all([
    readTransfers(db, ofKinds('credit', 'debit', 'refusal', 'capture')),
    readHolds(db, ofKinds('hold', 'capture', 'release')),
    readReversed(db, reverses),
    plays.length + reverses.length === 0 ? undefined : readPlays(db, plays, reverses),
  ])
  return { transfers, holds, reversed, play }
}

const byReference = <Row extends Referred>(rows: readonly Row[]) =>
  new Map(rows.map((row) => [brandKey(row.brandId, row.reference), row]))

const referenceColumns = 'brand_id text, reference text'

type Referred = Pick<Transfer, 'brandId' | 'reference'>

async function readTransfers(db: ReadDb, batch: readonly Referred[]): Promise<Map<string, Transfer>> {
  if (batch.length === 0) return new Map()
  return byReference(
    await db<Transfer>`
      select ${sql.columns(transferColumns)}
      from ${sql.unnest('asked', batch, referenceColumns)} join transfer using (brand_id, reference)
    `,
  )
}

async function readHolds(db: ReadDb, batch: readonly Referred[]): Promise<Map<string, Hold>> {
  if (batch.length === 0) return new Map()
  return byReference(
    await db<Hold>`
      select ${sql.columns(holdColumns)}
      from ${sql.unnest('asked', batch, referenceColumns)} join hold using (brand_id, reference)
    `,
  )
}

async function readReversed(db: ReadDb, transferIds: readonly string[]): Promise<Set<string>> {
  if (transferIds.length === 0) return new Set()
  const rows = await db<{ reverses: string }>`
    select reverses from transfer where reverses = any(${transferIds}::text[]) and outcome = 'posted'
  `
  return new Set(rows.map(({ reverses }) => reverses))
}

const transferColumns = `
  id text, amount bigint, brand_id text, reference text, type text, debit_account bigint, credit_account bigint,
  outcome text, reverses text, reason text, effective_at timestamptz, created_at timestamptz
` as const

/**
 * Writes what a batch decided, in one statement. Transfers go in by reference, so that two batches that meet on a
 * reference of different accounts cannot deadlock; one of them then fails on the unique index and runs again.
 */
export function writeChanges(changes: Changes, now: Date): Fragment[] {
  const { transfers, entries, holds, accounts, play } = changes
  const plays = play && writtenPlays(play)
  if (transfers.length + holds.length === 0 && plays === undefined) return []
  const rows = entries.map(({ guarded, ...entry }) => ({ ...entry, ...(guarded ?? unguarded) }))
  const statement = sql`
    with new_transfer as (
      insert into transfer ${sql.rows('t', transfers, transferColumns)}
      order by t.brand_id, t.reference
    ), new_entry as (
      insert into entry ${sql.rows('e', rows, writtenEntry)}
    ), kept_hold as (
      insert into hold ${sql.rows('h', holds, holdColumns)}
      order by h.brand_id, h.reference
      -- The account is set so that a trigger compares it. Another player may have used the reference a moment ago.
      on conflict (brand_id, reference) do update
        set account_id = excluded.account_id, state = excluded.state, transfer_id = excluded.transfer_id, closed_at = excluded.closed_at
    )
    ${plays ?? sql``}
    update account a set ${sql.assignments('c', writtenBalance)}, updated_at = ${now}::timestamptz
    from ${sql.unnest('c', accounts, `id bigint, ${writtenBalance}`)} where a.id = c.id
  `
  return [statement]
}

const writtenEntry = 'account_id bigint, seq bigint, transfer_id text, amount bigint, balance bigint, hash bytea'
/** The fields that an entry of a system account does not have. */
const unguarded = { seq: null, balance: null, hash: null }
const writtenBalance = 'posted bigint, held bigint, seq bigint, head bytea'

/** A brand that is not known counts as one in production: there more care is taken. */
export const environmentOf = async (db: ReadDb, brandId: IdOf<'brand'>): Promise<Environment> =>
  (await ownerOf(db, brandId)).environment

/** Whose a brand is, and its environment. */
export async function ownerOf(db: ReadDb, brandId: IdOf<'brand'>) {
  type Owner = { readonly operatorId: IdOf<'operator'>; readonly environment: Environment }
  const [brand] = await db<Owner>`select operator_id, environment from brand where id = ${brandId}`
  return brand ?? { operatorId: '', environment: 'production' as const }
}

export const balanceOf = ({ posted, held }: Pick<Balance, 'posted' | 'held'>) => ({
  available: fromMinorUnits(posted),
  withdrawable: fromMinorUnits(posted - held),
})
