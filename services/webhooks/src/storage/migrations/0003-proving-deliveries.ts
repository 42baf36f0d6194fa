import type { Migration } from '@backoffice/service-runtime'

/** The few deliveries that homologation asks for: tests, and those that took more than one attempt. */
export const provingDeliveries: Migration = {
  name: '0003_proving_deliveries',
  transactional: false,
  sql: `create index concurrently delivery_proving on webhooks.delivery (endpoint_id, received_at)
    where state = 'delivered' and (type = 'webhook.test' or attempts_total > 1)`,
}
