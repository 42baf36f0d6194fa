import type { Migration } from '@backoffice/service-runtime/migrations'

/** What a sealed telephone number is found by: a keyed digest. Null: there is no number, or `secrets rewrap` has yet to come. */
export const searchByPhone: Migration = {
  name: '0019_search_by_phone',
  sql: 'alter table players.player add column phone_digest text collate "C"',
}
