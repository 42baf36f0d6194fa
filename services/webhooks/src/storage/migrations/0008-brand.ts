import { brandTable, type Migration } from '@backoffice/service-runtime/migrations'

/** Endpoints and deliveries are those of a brand that is known. */
export const brand: Migration = {
  name: '0008_brand',
  sql: brandTable('webhooks'),
}
