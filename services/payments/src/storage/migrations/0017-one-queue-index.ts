import type { Migration } from '@backoffice/service-runtime/migrations'

/** The index that begins with the environment serves the queue of both. */
export const oneQueueIndex: Migration = {
  name: '0017_one_queue_index',
  transactional: false,
  sql: 'drop index concurrently if exists payments.withdrawal_queue',
}
