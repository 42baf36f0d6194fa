import type { EntityManager } from '@mikro-orm/postgresql'
import { AccountEntity, type AccountRow } from './entities.ts'

/** A player's account in a brand. Another brand's player has none here. */
export function findAccount(
  em: EntityManager,
  { brandId, playerId }: { readonly brandId: string; readonly playerId: string },
): Promise<AccountRow | null> {
  return em.findOne(AccountEntity, { brandId, ownerId: playerId })
}
