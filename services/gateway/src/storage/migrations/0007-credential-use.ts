import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * When each key was last used. It stands apart from the keys, whose rows are locked where they are issued and revoked. Of the
 * keys that are there already, uses before this migration are not known.
 */
export const credentialUse: Migration = {
  name: '0007_credential_use',
  sql: `
create table gateway.credential_use (
  credential_id text collate "C" primary key,
  last_used_at timestamptz,
  -- Whether it was used before is not known.
  known_since timestamptz not null
);
insert into gateway.credential_use (credential_id, known_since) select id, now() from gateway.credential;
`,
}
