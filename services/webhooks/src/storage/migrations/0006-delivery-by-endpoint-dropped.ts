import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team's list reads an endpoint's deliveries by the time of their arrival, through `delivery_received_at`. */
export const deliveryByEndpointDropped: Migration = {
  name: '0006_delivery_by_endpoint_dropped',
  transactional: false,
  sql: 'drop index concurrently if exists webhooks.delivery_by_endpoint',
}
