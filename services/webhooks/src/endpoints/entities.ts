// Records.

import { defineEntity, type InferEntity, p } from '@mikro-orm/postgresql'

/** One per operator and environment. */
export const EndpointEntity = defineEntity({
  name: 'Endpoint',
  tableName: 'endpoint',
  properties: {
    id: p.string().primary(),
    operatorId: p.string(),
    environment: p.string().$type<'sandbox' | 'production'>(),
    url: p.string().nullable(),
    enabled: p.boolean(),
    disabledAt: p.datetime().nullable(),
    disabledReason: p.string().nullable(),
    breakerState: p.string().$type<'closed' | 'open' | 'recovering'>(),
    consecutiveFailures: p.integer(),
    failingSince: p.datetime().nullable(),
    openUntil: p.datetime().nullable(),
    openings: p.integer(),
    concurrency: p.integer().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})
export type EndpointRow = InferEntity<typeof EndpointEntity>

/** A signing secret; all that have not expired sign. */
export const SecretEntity = defineEntity({
  name: 'Secret',
  tableName: 'secret',
  properties: {
    id: p.bigint('string').primary().autoincrement(),
    endpointId: p.string(),
    sealed: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime().nullable(),
  },
})

export const entities = [EndpointEntity, SecretEntity]
