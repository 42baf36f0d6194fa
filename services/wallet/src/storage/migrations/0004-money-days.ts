import type { Migration } from '@backoffice/service-runtime'

/** Deposits and withdrawals by day, counted behind the ledger: no posting writes here. */
export const moneyDays: Migration = {
  name: '0004_money_days',
  sql: `
-- A day is one of the brand's calendar.
create table wallet.money_day (
  environment text not null check (environment in ('sandbox', 'production')),
  day date not null,
  brand_id text collate "C" not null,
  currency text not null,
  type text not null check (type in ('DEPOSIT', 'WITHDRAWAL')),
  transfers bigint not null,
  -- Of all players of a brand together.
  amount numeric(38) not null,
  primary key (environment, day, brand_id, currency, type)
);
create index money_day_of_brand on wallet.money_day (brand_id, day);
-- Up to which transaction the entries of a system account are counted there.
create table wallet.money_position (
  account_id bigint primary key,
  through xid8 not null
);
`,
}
