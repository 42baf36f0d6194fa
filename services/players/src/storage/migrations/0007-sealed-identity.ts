import type { Migration } from '@backoffice/service-runtime/migrations'

/** E-mail, CPF and phone, sealed as one. Null: they are in the columns of their own. Else those are empty. */
export const sealedIdentity: Migration = {
  name: '0007_sealed_identity',
  sql: 'alter table players.player add column sealed_identity text',
}
