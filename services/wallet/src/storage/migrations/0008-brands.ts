import type { Migration } from '@backoffice/service-runtime/migrations'

export const brands: Migration = {
  name: '0008_brands',
  sql: `
-- The environment of each brand that has opened an account, which the id of a brand does not tell.
create table wallet.brand (
  id text collate "C" primary key,
  environment text not null check (environment in ('sandbox', 'production'))
);
`,
}
