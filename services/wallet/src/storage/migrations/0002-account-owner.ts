import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team names a player without the brand; with it, this index serves as well as the unique one. */
export const accountOwner: Migration = {
  name: '0002_account_owner',
  sql: 'create index concurrently account_of_owner on wallet.account (owner_id, brand_id) where owner_id is not null',
  transactional: false,
}
