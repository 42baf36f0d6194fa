import type { Migration } from '@backoffice/service-runtime/migrations'

export const sealedResponse: Migration = {
  name: '0003_sealed_response',
  // Sealed; null where response_head is clear. A column of its own, because a receiver may reply with any text.
  sql: 'alter table webhooks.attempt add column sealed_response_head text',
}
