import { type KycStatus, type PlayerStatus, Rejection } from '@backoffice/contracts'
import { type Db, type ReadDb, sql } from '@backoffice/service-runtime'
import { type InferEntity, LockMode } from '@mikro-orm/postgresql'
import type { PlayerRecord } from '../domain/player.ts'
import { PlayerEntity } from './entities.ts'

// Calls of operators and services come in numbers, so they share one statement. What the team does with one player, or with
// optional filters, goes over the entity.

export interface PlayerKey {
  readonly playerId: string
  /** null: whichever brand it is of. Only the team asks so. */
  readonly brandId: string | null
}

const columns = sql`
  id, operator_id, brand_id, environment, currency, time_zone, external_id, name, email, cpf, phone, birth_date, status,
  kyc_status, kyc_version, kyc_decided_at, kyc_reason, self_excluded_from, self_excluded_until, daily_deposit_limit,
  pending_limit, pending_limit_from, created_at
`

const idsOf = (keys: readonly PlayerKey[]) => keys.map(({ playerId }) => playerId)

/** What was found for each key, in order. Another brand's player is unknown. */
function inOrder(keys: readonly PlayerKey[], players: readonly PlayerRecord[]): (PlayerRecord | undefined)[] {
  const byId = new Map(players.map((player) => [player.id, player]))
  return keys.map(({ playerId, brandId }) => {
    const player = byId.get(playerId)
    return brandId === null || player?.brandId === brandId ? player : undefined
  })
}

/** A player, or undefined, for each key. */
export async function findPlayers(db: ReadDb, keys: readonly PlayerKey[]): Promise<(PlayerRecord | undefined)[]> {
  const players = await db<PlayerRecord>`select ${columns} from player where id = any(${idsOf(keys)}::text[])`
  return inOrder(keys, players)
}

/** The same, with the rows locked until the transaction ends. In id order, so two batches cannot deadlock. */
export async function lockPlayers(db: Db, keys: readonly PlayerKey[]): Promise<(PlayerRecord | undefined)[]> {
  const players = await db<PlayerRecord>`
    select ${columns} from player where id = any(${idsOf(keys)}::text[]) order by id for update
  `
  return inOrder(keys, players)
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
  const players = await db<PlayerRecord>`
    select ${columns} from player
    join unnest(
      ${keys.map(({ brandId }) => brandId)}::text[], ${keys.map(({ externalId }) => externalId)}::text[]
    ) as wanted (brand_id, external_id) using (brand_id, external_id)
  `
  const nameOf = ({ brandId, externalId }: ExternalKey) => JSON.stringify([brandId, externalId])
  const byName = new Map(players.map((player) => [nameOf(player), player]))
  return keys.map((key) => byName.get(nameOf(key)))
}

/** New players have no decision, exclusion or limit yet. The unique (brand, externalId) decides between two replicas. */
export async function insertPlayers(db: Db, players: readonly PlayerRecord[]): Promise<void> {
  await db`
    insert into player (id, operator_id, brand_id, environment, currency, time_zone, external_id, name, email, cpf, phone,
      birth_date, status, kyc_status, kyc_version, created_at)
    select * from unnest(
      ${players.map(({ id }) => id)}::text[], ${players.map(({ operatorId }) => operatorId)}::text[],
      ${players.map(({ brandId }) => brandId)}::text[], ${players.map(({ environment }) => environment)}::text[],
      ${players.map(({ currency }) => currency)}::text[], ${players.map(({ timeZone }) => timeZone)}::text[],
      ${players.map(({ externalId }) => externalId)}::text[], ${players.map(({ name }) => name)}::text[],
      ${players.map(({ email }) => email)}::text[], ${players.map(({ cpf }) => cpf)}::text[],
      ${players.map(({ phone }) => phone)}::text[], ${players.map(({ birthDate }) => birthDate)}::date[],
      ${players.map(({ status }) => status)}::text[], ${players.map(({ kycStatus }) => kycStatus)}::text[],
      ${players.map(({ kycVersion }) => kycVersion)}::int[], ${players.map(({ createdAt }) => createdAt)}::timestamptz[]
    ) as new (id, operator_id, brand_id, environment, currency, time_zone, external_id, name, email, cpf, phone,
      birth_date, status, kyc_status, kyc_version, created_at)
    -- So that two replicas that insert the same names wait for each other in one order.
    order by brand_id, external_id
  `
}

/** Writes the KYC fields of players whose rows are locked. */
export async function updateKyc(db: Db, players: readonly PlayerRecord[]): Promise<void> {
  await db`
    update player set kyc_status = changed.kyc_status, kyc_version = changed.kyc_version,
      kyc_decided_at = changed.kyc_decided_at, kyc_reason = changed.kyc_reason
    from unnest(
      ${players.map(({ id }) => id)}::text[], ${players.map(({ kycStatus }) => kycStatus)}::text[],
      ${players.map(({ kycVersion }) => kycVersion)}::int[],
      ${players.map(({ kycDecidedAt }) => kycDecidedAt)}::timestamptz[],
      ${players.map(({ kycReason }) => kycReason)}::text[]
    ) as changed (id, kyc_status, kyc_version, kyc_decided_at, kyc_reason)
    where player.id = changed.id
  `
}

/** One player for the team to read. @throws {Rejection} PLAYER_NOT_FOUND */
export async function requirePlayer(db: ReadDb, playerId: string): Promise<PlayerRecord> {
  const [player] = await findPlayers(db, [{ playerId, brandId: null }])
  if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
  return player
}

/** A copy, since records are changed by `updatePlayer` alone. An entity has null where the column has. */
const recordOf = (row: InferEntity<typeof PlayerEntity>) => ({ ...row }) as PlayerRecord

/** One player to be edited, its row locked until the transaction ends. @throws {Rejection} PLAYER_NOT_FOUND */
export async function lockPlayer(db: Db, playerId: string): Promise<PlayerRecord> {
  const row = await db.em.findOne(PlayerEntity, { id: playerId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (row === null) throw new Rejection('PLAYER_NOT_FOUND')
  return recordOf(row)
}

/** What differs from the player that was locked is written before the commit. */
export function updatePlayer(db: Db, player: PlayerRecord): void {
  db.em.assign(db.em.getReference(PlayerEntity, player.id), player)
}

export interface PlayerFilter {
  readonly brandId: string
  readonly externalId?: string
  readonly status?: PlayerStatus
  readonly kycStatus?: KycStatus
  /** The last id of the page before. Ids are time-ordered: the next page goes on below it. */
  readonly before?: string
}

/** A page of a brand's players, newest first. */
export async function listBrandPlayers(
  db: ReadDb,
  { before, ...filter }: PlayerFilter,
  limit: number,
): Promise<PlayerRecord[]> {
  const where = { ...filter, ...(before === undefined ? {} : { id: { $lt: before } }) }
  const rows = await db.em.find(PlayerEntity, where, { orderBy: { id: 'desc' }, limit })
  return rows.map(recordOf)
}
