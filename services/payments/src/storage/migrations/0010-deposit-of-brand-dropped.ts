import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team's list reads a brand's deposits through `deposit_by_time`. */
export const depositOfBrandDropped: Migration = {
  name: '0010_deposit_of_brand_dropped',
  transactional: false,
  sql: 'drop index concurrently if exists payments.deposit_of_brand',
}
