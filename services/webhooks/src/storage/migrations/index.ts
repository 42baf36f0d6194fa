import { type NamedMigration, runtimeMigrations } from '@backoffice/service-runtime'
import { WebhookTables } from './0001-webhook-tables.ts'
import { DeliveryTrace } from './0002-delivery-trace.ts'

/** In the order in which they are applied. */
export const migrations: readonly NamedMigration[] = [
  ...runtimeMigrations('webhooks'),
  { name: '0001_webhook_tables', class: WebhookTables },
  { name: '0002_delivery_trace', class: DeliveryTrace },
]
