import type { Environment, KycStatus, PlayerStatus } from '@backoffice/contracts'
import { defineEntity, type InferEntity, p } from '@mikro-orm/postgresql'

export const PlayerEntity = defineEntity({
  name: 'Player',
  tableName: 'player',
  properties: {
    id: p.string().primary(),
    operatorId: p.string(),
    brandId: p.string(),
    environment: p.string().$type<Environment>(),
    currency: p.string(),
    timeZone: p.string(),
    externalId: p.string(),
    name: p.string(),
    email: p.string(),
    cpf: p.string(),
    phone: p.string().nullable(),
    birthDate: p.date(),
    status: p.string().$type<PlayerStatus>(),
    kycStatus: p.string().$type<KycStatus>(),
    kycVersion: p.integer(),
    kycDecidedAt: p.datetime().nullable(),
    kycReason: p.string().nullable(),
    selfExcludedFrom: p.datetime().nullable(),
    selfExcludedUntil: p.datetime().nullable(),
    dailyDepositLimit: p.bigint('bigint').nullable(),
    pendingLimit: p.bigint('bigint').nullable(),
    pendingLimitFrom: p.datetime().nullable(),
    createdAt: p.datetime(),
  },
})
export type PlayerRow = InferEntity<typeof PlayerEntity>

export const KycSubmissionEntity = defineEntity({
  name: 'KycSubmission',
  tableName: 'kyc_submission',
  properties: {
    id: p.string().primary(),
    playerId: p.string(),
    documentType: p.string(),
    reference: p.string(),
    submittedAt: p.datetime(),
  },
})

export const PlayerChangeEntity = defineEntity({
  name: 'PlayerChange',
  tableName: 'player_change',
  properties: {
    id: p.bigint('string').primary().autoincrement(),
    playerId: p.string(),
    at: p.datetime(),
    actor: p.string(),
    field: p.string(),
    previous: p.string().nullable(),
    next: p.string().nullable(),
    reason: p.string().nullable(),
  },
})

export const GameSessionEntity = defineEntity({
  name: 'GameSession',
  tableName: 'game_session',
  properties: {
    id: p.string().primary(),
    playerId: p.string(),
    brandId: p.string(),
    gameId: p.string(),
    mode: p.string().$type<'demo' | 'real'>(),
    gameUrl: p.string(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    tokenSha256: p.blob().nullable(),
    demoBalance: p.bigint('bigint').nullable(),
  },
})

export const entities = [PlayerEntity, KycSubmissionEntity, PlayerChangeEntity, GameSessionEntity]
