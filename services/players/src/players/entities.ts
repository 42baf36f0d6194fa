// Records.

import type { Environment, KycStatus, PlayerStatus } from '@backoffice/contracts'
import { defineEntity, type InferEntity, LockMode, p } from '@mikro-orm/postgresql'

export { LockMode }

/** For the team's edits of players: see players.ts. */
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
    sealedIdentity: p.string().nullable(),
    cpfDigest: p.string().nullable(),
    emailDigest: p.string().nullable(),
    phoneDigest: p.string().nullable(),
    birthDate: p.date(),
    status: p.string().$type<PlayerStatus>(),
    kycStatus: p.string().$type<KycStatus>(),
    kycVersion: p.integer(),
    kycDecidedAt: p.datetime().nullable(),
    kycReason: p.string().nullable(),
    kycExpiresAt: p.datetime().nullable(),
    selfExcludedFrom: p.datetime().nullable(),
    selfExcludedUntil: p.datetime().nullable(),
    dailyDepositLimit: p.bigint('bigint').nullable(),
    pendingLimit: p.bigint('bigint').nullable(),
    pendingLimitFrom: p.datetime().nullable(),
    createdAt: p.datetime(),
  },
})

export type PlayerRow = InferEntity<typeof PlayerEntity>

export const entities = [PlayerEntity]
