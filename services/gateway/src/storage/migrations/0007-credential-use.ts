import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * When each key was last used. It stands apart from the keys, whose rows are locked where they are issued and revoked. A
 * key without a row was never used.
 */
export const credentialUse: Migration = {
  name: '0007_credential_use',
  sql: `
create table gateway.credential_use (
  credential_id text collate "C" primary key,
  last_used_at timestamptz not null
);
`,
}
