import type { Migration } from '@backoffice/service-runtime/migrations'

export const deliveryTrace: Migration = {
  name: '0002_delivery_trace',
  // W3C trace context of the request behind the event; null where nothing was traced.
  sql: 'alter table webhooks.delivery add column trace_parent text',
}
