-- A posting without a service: one transaction locks an account's row by updating it, and inserts a transfer and its two
-- entries. The tables have only the indexes and checks that a ledger cannot do without.
create table account (
  id bigint primary key,
  posted bigint not null default 0 check (posted >= 0),
  seq bigint not null default 0,
  updated_at timestamptz not null default now()
) with (fillfactor = 70);
create table transfer (
  id text collate "C" primary key,
  reference text collate "C" not null unique,
  debit_account bigint not null,
  credit_account bigint not null,
  amount bigint not null check (amount > 0),
  created_at timestamptz not null default now()
);
create table entry (
  account_id bigint not null,
  seq bigint,
  transfer_id text collate "C" not null,
  amount bigint not null check (amount <> 0),
  balance bigint check (balance >= 0)
);
create unique index entry_in_order on entry (account_id, seq) where seq is not null;
create index entry_of_transfer on entry (transfer_id);
