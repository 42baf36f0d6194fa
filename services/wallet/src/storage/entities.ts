import { defineEntity, type InferEntity, p } from '@mikro-orm/core'

/** A player's account, for reading. Postings lock and write it with SQL of their own. */
export const AccountEntity = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    id: p.bigint().primary(),
    brandId: p.string(),
    ownerId: p.string().nullable(),
    kind: p.string(),
    currency: p.string(),
    posted: p.bigint(),
    held: p.bigint(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})
export type AccountRow = InferEntity<typeof AccountEntity>

export const entities = [AccountEntity]
