import { type NamedMigration, runtimeTables } from '@backoffice/service-runtime'
import { WebhookTables } from './0001-webhook-tables.ts'
import { DeliveryTrace } from './0002-delivery-trace.ts'

/** In the order in which they are applied. */
export const migrations: readonly NamedMigration[] = [
  runtimeTables('webhooks'),
  { name: '0001_webhook_tables', class: WebhookTables },
  { name: '0002_delivery_trace', class: DeliveryTrace },
]
