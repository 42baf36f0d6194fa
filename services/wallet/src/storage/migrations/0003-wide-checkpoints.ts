import type { Migration } from '@backoffice/service-runtime/migrations'

export const wideCheckpoints: Migration = {
  name: '0003_wide_checkpoints',
  sql: `
-- All players of a brand together may hold more than one balance can. The table has three rows for each brand, so it is
-- written anew at once.
alter table wallet.system_checkpoint alter column balance type numeric(38);
`,
}
