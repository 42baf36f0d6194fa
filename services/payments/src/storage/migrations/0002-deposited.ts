import type { Migration } from '@backoffice/service-runtime/migrations'

export const deposited: Migration = {
  name: '0002_deposited',
  sql: `
-- The sum of all deposits of the player that were begun; null until the player's next deposit, which counts the earlier
-- ones. They are not counted here, so that no migration reads every deposit.
alter table payments.depositor add column deposited bigint;
`,
}
