import { brandTable, type Migration } from '@backoffice/service-runtime/migrations'

/** Takes the place of what was kept of a brand when it opened its first account, and said no more than its environment. */
export const brand: Migration = {
  name: '0012_brand',
  sql: `
drop table wallet.brand;
${brandTable('wallet')}
-- A player is of one brand. Whoever names it with another one opens no second account.
drop index wallet.account_of_owner;
create unique index account_of_owner on wallet.account (owner_id) where owner_id is not null;
`,
}
