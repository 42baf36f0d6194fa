import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * The last day on which the player deposited, in the brand's time zone, and the sum of its deposits without the failed
 * ones. So a deposit does not read all others of its day.
 */
export const dayOfDepositor: Migration = {
  name: '0020_day_of_depositor',
  sql: `
alter table payments.depositor add column day date, add column day_total bigint check (day_total >= 0);
`,
}
