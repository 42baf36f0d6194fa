import type { Migration } from '@backoffice/service-runtime/migrations'

/** Where the documents of an operator open. Null as the template: the links are switched off, and the key stays. */
export const documentSources: Migration = {
  name: '0014_document_sources',
  sql: `
create table players.document_source (
  operator_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  template text,
  sealed_key text not null,
  key_created_at timestamptz not null,
  primary key (operator_id, environment)
);
`,
}
