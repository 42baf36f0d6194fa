import type { Migration } from '@backoffice/service-runtime/migrations'

/** When the template was last another one: for a day reviewers are told. Null: it is as it was made before this. */
export const documentSourceChanged: Migration = {
  name: '0022_document_source_changed',
  sql: 'alter table players.document_source add column template_changed_at timestamptz',
}
