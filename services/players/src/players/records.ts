import { type Environment, type KycStatus, type PlayerStatus, Rejection, type Scope } from '@backoffice/contracts'
import { type Db, type Fragment, type LockingDb, type ReadDb, sql } from '@backoffice/service-runtime'
import type { Vault } from '@backoffice/vault'
import {
  cpfDigestsOf,
  digestColumns,
  emailDigestsOf,
  type Identity,
  identityColumns,
  identityOf,
  phoneDigestsOf,
  type StoredIdentity,
  storedIdentity,
} from './identity.ts'
import { isAnonymised, type PersonExclusion, type PlayerRecord, type SeenPlayer, seenPlayer } from './player.ts'

export interface PlayerKey {
  readonly playerId: string
  /** Null: of any brand. Only the team may ask for that. */
  readonly brandId: string | null
}

const kycColumns =
  'kyc_status text, kyc_version int, kyc_decided_at timestamptz, kyc_reason text, kyc_expires_at timestamptz'
const editedColumns = `
  external_id text, name text, birth_date date, status text, ${kycColumns},
  self_excluded_from timestamptz, self_excluded_until timestamptz, daily_deposit_limit bigint, pending_limit bigint,
  pending_limit_from timestamptz
` as const
const fixedColumns = `
  id text, operator_id text, brand_id text, currency text, time_zone text, ${identityColumns}, ${editedColumns},
  created_at timestamptz
` as const
const playerColumns = `${fixedColumns}, environment text` as const
const columns = sql.columns(playerColumns)

const idsOf = (keys: readonly PlayerKey[]) => keys.map(({ playerId }) => playerId)

/** A row of the table. */
type StoredPlayer = Omit<PlayerRecord, keyof Identity> & StoredIdentity

/** The record that a row stands for. Its identity is opened when it is first looked at: most calls need none of it. */
function recordOf({ vault }: ReadDb, { email, cpf, phone, sealedIdentity, ...player }: StoredPlayer): PlayerRecord {
  let identity: Identity | undefined
  const opened = () => {
    identity ??= identityOf(vault, player.id, { email, cpf, phone, sealedIdentity })
    return identity
  }
  return {
    ...player,
    get email() {
      return opened().email
    },
    get cpf() {
      return opened().cpf
    },
    get phone() {
      return opened().phone
    },
  }
}

/** The player for each key, in order. A player of another brand is unknown. */
function inOrder(
  db: ReadDb,
  keys: readonly PlayerKey[],
  players: readonly StoredPlayer[],
): (PlayerRecord | undefined)[] {
  const byId = new Map(players.map((player) => [player.id, recordOf(db, player)]))
  return keys.map(({ playerId, brandId }) => {
    const player = byId.get(playerId)
    return brandId === null || player?.brandId === brandId ? player : undefined
  })
}

/** The player that a call of an operator names. */
export const playerOf = ({
  input,
  scope,
}: {
  readonly input: { readonly playerId: string }
  readonly scope: Scope
}) => ({ playerId: input.playerId, brandId: scope.brandId })

/** A player, or undefined, for each key. */
export async function readPlayers(db: ReadDb, keys: readonly PlayerKey[]): Promise<(PlayerRecord | undefined)[]> {
  const players = await db<StoredPlayer>`select ${columns} from player where id = any(${idsOf(keys)}::text[])`
  return inOrder(db, keys, players)
}

/**
 * The same, with the rows locked until the transaction ends. In id order, so two batches cannot deadlock. The environment is
 * that of the brand, whatever the row says.
 */
export async function lockPlayers(db: LockingDb, keys: readonly PlayerKey[]): Promise<(PlayerRecord | undefined)[]> {
  const players = await db<StoredPlayer>`
    select ${sql.columns(fixedColumns, 'p')}, b.environment from player p join brand b on b.id = p.brand_id
    where p.id = any(${idsOf(keys)}::text[]) order by p.id for update of p
  `
  return inOrder(db, keys, players)
}

/**
 * Approvals whose term is over by PostgreSQL's clock, the longest over first, their rows locked. What somebody else has locked
 * is left for the next time.
 */
export async function lockEndedApprovals(db: Db, limit: number): Promise<PlayerRecord[]> {
  const players = await db<StoredPlayer>`
    select ${columns} from player
    where kyc_status = 'aprovado' and kyc_expires_at <= now()
    order by kyc_expires_at limit ${limit} for no key update skip locked
  `
  return players.map((player) => recordOf(db, player))
}

/** The operator's own name of a player; unique per brand. */
export interface ExternalKey {
  readonly brandId: string
  readonly externalId: string
}

/** A player, or undefined, for each key. */
export async function findPlayersByExternalId(
  db: ReadDb,
  keys: readonly ExternalKey[],
): Promise<(PlayerRecord | undefined)[]> {
  const players = await db<StoredPlayer>`
    select ${columns} from player
    join ${sql.unnest('wanted', keys, 'brand_id text, external_id text')} using (brand_id, external_id)
  `
  const nameOf = ({ brandId, externalId }: ExternalKey) => JSON.stringify([brandId, externalId])
  const byName = new Map(players.map((player) => [nameOf(player), recordOf(db, player)]))
  return keys.map((key) => byName.get(nameOf(key)))
}

/** The unique index on brand and externalId decides between two replicas. */
export function insertPlayers(vault: Vault, players: readonly PlayerRecord[]): Fragment {
  const rows = players.map((player) => ({ ...player, ...storedIdentity(vault, player.id, player) }))
  return sql`
    insert into player ${sql.rows('new', rows, `${playerColumns}, ${digestColumns}`)}
    -- In one order, so that two replicas that insert the same names cannot deadlock.
    order by brand_id, external_id
  `
}

/** Writes the KYC fields of players whose rows are locked. */
export const updateKyc = (players: readonly PlayerRecord[]): Fragment => sql.updateRows('player', players, kycColumns)

/** Whom a player belongs to. Nothing else of the record goes into a message. */
export function scopeOf({ operatorId, brandId, environment, currency, timeZone }: Scope): Scope {
  return { operatorId, brandId, environment, currency, timeZone }
}

/** One player for the team to read. @throws {Rejection} PLAYER_NOT_FOUND */
export async function requirePlayer(db: ReadDb, playerId: string): Promise<PlayerRecord> {
  const [player] = await readPlayers(db, [{ playerId, brandId: null }])
  if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
  return player
}

/** One player to be edited, its row locked until the transaction ends. @throws {Rejection} PLAYER_NOT_FOUND */
export async function lockPlayer(db: Db, playerId: string): Promise<PlayerRecord> {
  const [player] = await lockPlayers(db, [{ playerId, brandId: null }])
  if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
  return player
}

/** Writes what the team may edit of a player whose row is locked. The identity is another thing: see `updateIdentity`. */
export async function updatePlayer(db: Db, player: PlayerRecord): Promise<void> {
  await db`
    update player set ${sql.assignments('changed', editedColumns)}
    from ${sql.unnest('changed', [player], `id text, ${editedColumns}`)}
    where player.id = changed.id
  `
}

/** Seals an identity anew and writes it. */
export async function updateIdentity(db: Db, player: PlayerRecord): Promise<void> {
  const changed = { id: player.id, ...storedIdentity(db.vault, player.id, player) }
  const identity = `${identityColumns}, ${digestColumns}` as const
  await db`
    update player set ${sql.assignments('changed', identity)} from ${sql.unnest('changed', [changed], `id text, ${identity}`)}
    where player.id = changed.id
  `
}

export interface PlayerFilter {
  readonly brandId: string
  readonly externalId?: string
  readonly status?: PlayerStatus
  readonly kycStatus?: KycStatus
  /** The last id of the page before. Ids are ordered by time, so the next page has lower ones. */
  readonly before?: string
}

/** What players are searched by. */
export type SearchedBy =
  | { readonly playerId: string }
  | { readonly externalId: string }
  | { readonly cpf: string }
  | { readonly email: string }
  | { readonly phone: string }
  /** Beginnings of words, in small letters and without accents. */
  | { readonly words: readonly string[] }

export interface PlayerSearch {
  readonly by: SearchedBy
  readonly operatorId?: string | undefined
  readonly brandId?: string | undefined
  readonly environment?: Environment | undefined
  readonly before?: string | undefined
  readonly limit: number
}

/** Comes after every id. */
const afterAllIds = '~'

/** Players of all operators, newest first. */
export async function searchPlayers(db: ReadDb, { by, limit, ...filter }: PlayerSearch): Promise<PlayerRecord[]> {
  const { operatorId = null, brandId = null, environment = null, before = afterAllIds } = filter
  const found = await db<StoredPlayer>`
    select ${columns} from player
    where ${isFoundBy(db, by)} and id < ${before}
      and (${operatorId}::text is null or operator_id = ${operatorId})
      and (${brandId}::text is null or brand_id = ${brandId})
      and (${environment}::text is null or environment = ${environment})
    order by id desc limit ${limit}
  `
  return found.map((player) => recordOf(db, player))
}

/** Statements of their own, since each uses another index. */
function isFoundBy({ vault }: ReadDb, by: SearchedBy) {
  if ('playerId' in by) return sql`id = ${by.playerId}`
  if ('externalId' in by) return sql`external_id = ${by.externalId}`
  if ('cpf' in by) return sql`cpf_digest = any(${cpfDigestsOf(vault, by.cpf)}::text[])`
  if ('email' in by) return sql`email_digest = any(${emailDigestsOf(vault, by.email)}::text[])`
  if ('phone' in by) return sql`phone_digest = any(${phoneDigestsOf(vault, by.phone)}::text[])`
  const beginnings = by.words.map((word) => `'${word}':*`).join(' & ')
  return sql`name_words(name) @@ to_tsquery('simple'::regconfig, ${beginnings})`
}

/** What everybody sees of a player now, as `seenPlayer` and `kycAt` say it, for a filter. */
const seenColumns = (() => {
  const runs = sql`(status = 'autoexcluido' or self_excluded_from is not null
    and (self_excluded_until is null or self_excluded_until > now()))`
  return {
    status: sql`case when ${runs} or cpf_digest in (
      select cpf_digest from player x where x.brand_id = player.brand_id
        and (status = 'autoexcluido' or self_excluded_from is not null) and ${runs}
    ) then 'autoexcluido' else status end`,
    kycStatus: sql`case when kyc_status = 'aprovado' and kyc_expires_at <= now() then 'expirado' else kyc_status end`,
  }
})()

/** A page of a brand's players, newest first. A filter that is not given is not in the statement. */
export async function listBrandPlayers(
  db: ReadDb,
  { brandId, before = afterAllIds, externalId, status, kycStatus }: PlayerFilter,
  limit: number,
): Promise<PlayerRecord[]> {
  const listed = await db<StoredPlayer>`
    select ${columns} from player where brand_id = ${brandId} and id < ${before}
      ${externalId === undefined ? sql`` : sql`and external_id = ${externalId}`}
      ${status === undefined ? sql`` : sql`and ${seenColumns.status} = ${status}`}
      ${kycStatus === undefined ? sql`` : sql`and ${seenColumns.kycStatus} = ${kycStatus}`}
    order by id desc limit ${limit}
  `
  return listed.map((player) => recordOf(db, player))
}

/** Whose CPF it is, within a brand. */
interface PersonKey {
  readonly brandId: string
  readonly cpfDigest: string
}

type ExcludedPlayer = PersonExclusion & PersonKey

const nameOf = ({ brandId, cpfDigest }: PersonKey) => `${brandId} ${cpfDigest}`

/** A key for each master key: players of one person may be stored under several while a new one comes in. */
const keysOf = ({ vault }: ReadDb, { brandId, cpf }: PlayerRecord): PersonKey[] =>
  isAnonymised({ cpf }) ? [] : cpfDigestsOf(vault, cpf).map((cpfDigest) => ({ brandId, cpfDigest }))

/**
 * Players as everybody sees them now, by PostgreSQL's clock, in order. A self-exclusion holds for every player of the person
 * in the brand.
 */
export async function seePlayers<P extends PlayerRecord | undefined>(
  db: ReadDb,
  players: readonly P[],
): Promise<(SeenPlayer | Extract<P, undefined>)[]> {
  const keys = players.map((player) => (player === undefined ? [] : keysOf(db, player)))
  const asked = new Map(keys.flat().map((key) => [nameOf(key), key]))
  const rows = await db<{ now: Date } & (ExcludedPlayer | { id: null })>`
    select now, id, brand_id, cpf_digest, status, self_excluded_from, self_excluded_until
    from now() left join (
      select id, brand_id, cpf_digest, status, self_excluded_from, self_excluded_until from player
      join ${sql.unnest('asked', [...asked.values()], 'brand_id text, cpf_digest text')} using (brand_id, cpf_digest)
      -- As the index says it.
      where status = 'autoexcluido' or self_excluded_from is not null
    ) excluded on true
  `
  const [{ now }] = rows as [(typeof rows)[0]]
  const byPerson = Map.groupBy(
    rows.filter((row) => row.id !== null),
    nameOf,
  )
  return players.map((player, index) => {
    if (player === undefined) return player as Extract<P, undefined>
    const others = (keys[index] ?? []).flatMap((key) => byPerson.get(nameOf(key)) ?? [])
    // This one may have been changed since it was read.
    const without = others.filter(({ id }) => id !== player.id)
    return seenPlayer(player, without, now)
  })
}

export async function seePlayer(db: ReadDb, player: PlayerRecord): Promise<SeenPlayer> {
  const [one] = await seePlayers(db, [player])
  return one as SeenPlayer
}
