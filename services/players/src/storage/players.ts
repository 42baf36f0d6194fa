import { Rejection } from '@backoffice/contracts'
import { type EntityManager, LockMode } from '@mikro-orm/postgresql'
import { KycSubmissionEntity, PlayerChangeEntity, PlayerEntity, type PlayerRow } from './entities.ts'

export interface PlayerKey {
  readonly playerId: string
  readonly brandId: string
}

/** @throws {Rejection} PLAYER_NOT_FOUND: unknown, or another brand's */
export async function findPlayer(em: EntityManager, { playerId, brandId }: PlayerKey): Promise<PlayerRow> {
  const player = await em.findOne(PlayerEntity, { id: playerId, brandId })
  if (player === null) throw new Rejection('PLAYER_NOT_FOUND')
  return player
}

/** The same, with the row locked until the transaction ends. @throws {Rejection} PLAYER_NOT_FOUND */
export async function lockPlayer(em: EntityManager, { playerId, brandId }: PlayerKey): Promise<PlayerRow> {
  const player = await em.findOne(PlayerEntity, { id: playerId, brandId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (player === null) throw new Rejection('PLAYER_NOT_FOUND')
  return player
}

const submissionsMax = 100

/** The latest submissions, most recent first. */
export function latestSubmissions(em: EntityManager, playerId: string) {
  return em.find(
    KycSubmissionEntity,
    { playerId },
    { orderBy: { submittedAt: 'desc', id: 'desc' }, limit: submissionsMax },
  )
}

const changesMax = 200

export function latestChanges(em: EntityManager, playerId: string) {
  return em.find(PlayerChangeEntity, { playerId }, { orderBy: { id: 'desc' }, limit: changesMax })
}

export interface Change {
  readonly playerId: string
  readonly at: Date
  /** The operator's id, a person of the team, or the sandbox route. */
  readonly actor: string
  readonly field: 'status' | 'kycStatus' | 'selfExclusion' | 'dailyDepositLimit'
  readonly previous: string | null
  readonly next: string | null
  readonly reason: string | null
}

export function recordChange(em: EntityManager, change: Change): void {
  em.create(PlayerChangeEntity, change)
}
