import type { Migration } from '@backoffice/service-runtime'

/** When each piece of what there is was proven from its beginning on. There are as many rows as pieces. */
export const proof: Migration = {
  name: '0003_proof',
  sql: `
create table reconciler.proof (
  piece integer primary key,
  at timestamptz not null
);
`,
}
