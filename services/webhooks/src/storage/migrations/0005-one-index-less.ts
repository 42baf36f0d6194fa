import type { Migration } from '@backoffice/service-runtime/migrations'

/** A delivery is found by its event through the index that holds its id behind the endpoint's, of which there are few. */
export const oneIndexLess: Migration = {
  name: '0005_one_index_less',
  transactional: false,
  sql: 'drop index concurrently if exists webhooks.delivery_event',
}
