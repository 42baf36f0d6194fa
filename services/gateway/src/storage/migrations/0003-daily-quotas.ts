import type { Migration } from '@backoffice/service-runtime'

/** What the calls of an operator store in a day, and how much that may be. */
export const dailyQuotas: Migration = {
  name: '0003_daily_quotas',
  sql: `
-- Null: as the settings say.
alter table gateway.operator
  add column stored_mebibytes_per_day integer check (stored_mebibytes_per_day > 0),
  add column stored_rows_per_day integer check (stored_rows_per_day > 0);

-- One row per operator and environment, which begins anew with each day of UTC.
create table gateway.daily_use (
  operator_id text collate "C" not null,
  environment text not null,
  day date not null,
  bytes bigint not null,
  rows bigint not null,
  primary key (operator_id, environment)
) with (fillfactor = 50);
`,
}
