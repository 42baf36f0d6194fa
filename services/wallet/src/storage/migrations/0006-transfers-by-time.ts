import type { Migration } from '@backoffice/service-runtime/migrations'

/** A brand's transfers of a period. The few of one moment are brought into the order of their ids when they are read. */
export const transfersByTime: Migration = {
  name: '0006_transfers_by_time',
  transactional: false,
  sql: `create index concurrently transfer_by_time on wallet.transfer (brand_id, created_at) where outcome = 'posted'`,
}
