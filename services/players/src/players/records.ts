import { isDeepStrictEqual } from 'node:util'
import { cpfDigits, type IdOf, Rejection, type Scope } from '@backoffice/contracts'
import type { Place, Vault } from '@backoffice/database/vault'
import { type Db, type Fragment, type LockingDb, type ReadDb, sql } from '@backoffice/service-runtime'
import type { PlayerTable, SealedTable } from '@backoffice/team-access'
import { isAnonymised, type PersonExclusion, type PlayerRecord, type SeenPlayer, seenPlayer } from './player.ts'

/** What of a player is encrypted at rest. */
interface Identity {
  readonly email: string
  readonly cpf: string
  readonly phone: string | null
}

/** The same as it is stored: either in the clear columns, or sealed as one and the clear columns empty. */
type StoredIdentity = Identity & { readonly sealedIdentity: string | null }

/** What an identity is found by, and one person told from another. Null: nobody's, or there are no keys. */
interface IdentityDigests {
  readonly cpfDigest: string | null
  readonly emailDigest: string | null
  /** Also null where the identity has no number. */
  readonly phoneDigest: string | null
}

const noDigests: IdentityDigests = { cpfDigest: null, emailDigest: null, phoneDigest: null }

const nothing: Identity = { email: '', cpf: '', phone: null }

const placeOf = (playerId: string): Place => ({ column: 'player.sealed_identity', row: playerId })

/** The columns of an identity as they are written now. */
function storedIdentity(
  vault: Vault,
  playerId: IdOf<'player'>,
  { email, cpf, phone }: Identity,
): StoredIdentity & IdentityDigests {
  const digests = digestsOf(vault, { email, cpf, phone })
  if (!vault.seals) return { email, cpf, phone, sealedIdentity: null, ...digests }
  const sealedIdentity = vault.seal(JSON.stringify({ email, cpf, phone }), placeOf(playerId))
  return { ...nothing, sealedIdentity, ...digests }
}

/** Digests of a CPF under each master key, the newest first: with punctuation or without is the same. */
export const cpfDigestsOf = (vault: Vault, cpf: string): string[] =>
  vault.lookupDigests(cpfDigits(cpf) ?? cpf, 'player.cpf_digest')

/** The same of an e-mail address. Case does not matter: people write it in several ways. */
export const emailDigestsOf = (vault: Vault, email: string): string[] =>
  vault.lookupDigests(email.trim().toLowerCase(), 'player.email_digest')

/** The same of a telephone number. Brazil's code may stand before it or not: operators and callers write either. */
export const phoneDigestsOf = (vault: Vault, phone: string): string[] =>
  vault.lookupDigests(phone.replace(/^\+/, '').replace(/^55(?=\d{10,11}$)/, ''), 'player.phone_digest')

function digestsOf(vault: Vault, identity: Identity): IdentityDigests {
  if (isAnonymised(identity)) return noDigests
  const [cpfDigest = null] = cpfDigestsOf(vault, identity.cpf)
  const [emailDigest = null] = emailDigestsOf(vault, identity.email)
  const [phoneDigest = null] = identity.phone === null ? [] : phoneDigestsOf(vault, identity.phone)
  return { cpfDigest, emailDigest, phoneDigest }
}

/** The identity that columns stand for. */
const identityOf = (vault: Vault, playerId: string, { sealedIdentity, ...clear }: StoredIdentity): Identity =>
  sealedIdentity === null ? clear : (JSON.parse(vault.open(sealedIdentity, placeOf(playerId))) as Identity)

const identityColumns = 'email text, cpf text, phone text, sealed_identity text'
/** They are written and compared, and never read with a player. */
const digestColumns = 'cpf_digest text, email_digest text, phone_digest text'
const writtenIdentity = `${identityColumns}, ${digestColumns}` as const

export const sealedPlayers: SealedTable = {
  table: 'player',
  key: 'id text',
  reads: writtenIdentity,
  writes: writtenIdentity,
  renew({ id, email, cpf, phone, sealedIdentity, cpfDigest, emailDigest, phoneDigest }, vault) {
    if (sealedIdentity === null) return vault.seals ? storedIdentity(vault, id, { email, cpf, phone }) : null
    const renewed = vault.renew(sealedIdentity, placeOf(id))
    const stored: IdentityDigests = { cpfDigest, emailDigest, phoneDigest }
    const isCurrent = Object.values(stored).every((digest) => digest !== null && vault.isNewest(digest))
    if (renewed === null && (isCurrent || !vault.seals)) return null
    const digests = vault.seals ? digestsOf(vault, identityOf(vault, id, { ...nothing, sealedIdentity })) : stored
    if (renewed === null && isDeepStrictEqual(digests, stored)) return null
    return { ...nothing, sealedIdentity: renewed ?? sealedIdentity, ...digests }
  },
}

type Values = Readonly<Record<string, string | null>>

/** Without the sealed column and the digests, which nobody can read. */
function openPlayer(row: Values, vault: Vault): Values {
  const { sealed_identity: sealedIdentity = null, ...others } = row
  const { cpf_digest: _, email_digest: __, phone_digest: ___, ...values } = others
  const { id, email, cpf, phone = null } = values
  const clear = { email: email ?? '', cpf: cpf ?? '', phone }
  return { ...values, ...identityOf(vault, id ?? '', { ...clear, sealedIdentity }) }
}

/** Every table with rows about players, but for copies, which are purged after days. */
export const playerTables: readonly PlayerTable[] = [
  { table: 'player', key: 'id', isAbout: (playerId) => sql`id = ${playerId}`, open: openPlayer },
  { table: 'kyc_submission', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'player_change', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'told_status', key: 'player_id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'taken_case', key: 'player_id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'game_session', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'audit_entry', key: 'id', isAbout: (playerId) => sql`subject = ${playerId}` },
  { table: 'team_proposal', key: 'id', isAbout: (playerId) => sql`input ->> 'playerId' = ${playerId}` },
]

export interface PlayerKey {
  readonly playerId: IdOf<'player'>
  /** Null: of any brand. Only the team may ask for that. */
  readonly brandId: IdOf<'brand'> | null
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
export const columns = sql.columns(playerColumns)
/** Of a player as `p`: what a `PlayerStanding` has. */
export const standingColumns = sql.columns(
  `id text, status text, ${kycColumns}, self_excluded_from timestamptz, self_excluded_until timestamptz,
  daily_deposit_limit bigint, pending_limit bigint, pending_limit_from timestamptz`,
  'p',
)

const idsOf = (keys: readonly PlayerKey[]) => keys.map(({ playerId }) => playerId)

/** A row of the table. */
export type StoredPlayer = Omit<PlayerRecord, keyof Identity> & StoredIdentity

/** The record that a row stands for. Its identity is opened when it is first looked at: most calls need none of it. */
export function recordOf(
  { vault }: ReadDb,
  { email, cpf, phone, sealedIdentity, ...player }: StoredPlayer,
): PlayerRecord {
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
  readonly input: { readonly playerId: IdOf<'player'> }
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
  readonly brandId: IdOf<'brand'>
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
export async function requirePlayer(db: ReadDb, playerId: IdOf<'player'>): Promise<PlayerRecord> {
  const [player] = await readPlayers(db, [{ playerId, brandId: null }])
  if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
  return player
}

/** One player to be edited, its row locked until the transaction ends. @throws {Rejection} PLAYER_NOT_FOUND */
export async function lockPlayer(db: Db, playerId: IdOf<'player'>): Promise<PlayerRecord> {
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
  await db`
    update player set ${sql.assignments('changed', writtenIdentity)}
    from ${sql.unnest('changed', [changed], `id text, ${writtenIdentity}`)}
    where player.id = changed.id
  `
}

/** Whose CPF it is, within a brand. */
interface PersonKey {
  readonly brandId: IdOf<'brand'>
  readonly cpfDigest: string
}

type ExcludedPlayer = PersonExclusion & PersonKey

const nameOf = ({ brandId, cpfDigest }: PersonKey) => `${brandId} ${cpfDigest}`

/** A key for each master key: players of one person may be stored under several while a new one comes in. */
export const keysOf = ({ vault }: ReadDb, { brandId, cpf }: PlayerRecord): PersonKey[] =>
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
