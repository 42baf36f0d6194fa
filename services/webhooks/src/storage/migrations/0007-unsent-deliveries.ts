import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team looks for what failed or was withheld. Those are few among all that was delivered. */
export const unsentDeliveries: Migration = {
  name: '0007_unsent_deliveries',
  transactional: false,
  sql: `create index concurrently delivery_unsent on webhooks.delivery (endpoint_id, state, received_at)
    where state in ('failed', 'withheld')`,
}
