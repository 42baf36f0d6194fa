// Records.

import type { Environment } from '@backoffice/contracts'
import { defineEntity, type InferEntity, LockMode, p } from '@mikro-orm/postgresql'

export { LockMode }

export const Operator = defineEntity({
  name: 'Operator',
  tableName: 'operator',
  properties: {
    id: p.string().primary(),
    name: p.string(),
    rateLimitPerMinute: p.integer(),
    storedMebibytesPerDay: p.integer().nullable(),
    storedRowsPerDay: p.integer().nullable(),
    allowedAddresses: p.array(),
    suspendedAt: p.datetime().nullable(),
    replayProtection: p.boolean(),
    createdAt: p.datetime(),
    brands: () => p.oneToMany(Brand).mappedBy('operator'),
  },
})

export const Brand = defineEntity({
  name: 'Brand',
  tableName: 'brand',
  properties: {
    id: p.string().primary(),
    operator: () => p.manyToOne(Operator),
    environment: p.string().$type<Environment>(),
    name: p.string(),
    currency: p.string(),
    timeZone: p.string(),
    credentials: () => p.oneToMany(Credential).mappedBy('brand'),
  },
})

export const Credential = defineEntity({
  name: 'Credential',
  tableName: 'credential',
  properties: {
    id: p.string().primary(),
    brand: () => p.manyToOne(Brand),
    key: p.string(),
    sealedSecret: p.string(),
    createdAt: p.datetime(),
    revokedAt: p.datetime().nullable(),
  },
})

export type OperatorEntity = InferEntity<typeof Operator>
export type BrandEntity = InferEntity<typeof Brand>
export type CredentialEntity = InferEntity<typeof Credential>

export const entities = [Operator, Brand, Credential]
