import type { Migration } from '@backoffice/service-runtime/migrations'

export const deposited: Migration = {
  name: '0002_deposited',
  sql: `
-- The sum of all deposits of the player that were begun.
alter table payments.depositor add column deposited bigint not null default 0;
`,
}
