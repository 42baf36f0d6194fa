import { type NamedMigration, runtimeTables } from '@backoffice/service-runtime'
import { WebhookTables } from './0001-webhook-tables.ts'

/** In the order in which they are applied. */
export const migrations: readonly NamedMigration[] = [
  runtimeTables('webhooks'),
  { name: '0001_webhook_tables', class: WebhookTables },
]
