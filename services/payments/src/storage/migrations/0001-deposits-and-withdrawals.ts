import type { Migration } from '@backoffice/service-runtime/migrations'

export const depositsAndWithdrawals: Migration = {
  name: '0001_deposits_and_withdrawals',
  sql: `
create table payments.deposit (
  id text collate "C" primary key,
  brand_id text collate "C" not null,
  operator_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  time_zone text not null,
  player_id text collate "C" not null,
  external_reference text not null,
  amount bigint not null check (amount > 0),
  currency text not null,
  method text not null,
  status text not null check (status in ('pending', 'confirmed', 'failed')),
  failure_reason text,
  version integer not null check (version >= 1),
  created_at timestamptz not null,
  confirmed_at timestamptz,
  failed_at timestamptz,
  -- A brand is one operator in one environment.
  unique (brand_id, external_reference),
  check ((status = 'confirmed') = (confirmed_at is not null)),
  check ((status = 'failed') = (failed_at is not null)),
  check (failure_reason is null or status = 'failed')
);
create index deposit_of_day on payments.deposit (player_id, created_at) include (amount) where status <> 'failed';
create index deposit_of_brand on payments.deposit (brand_id, id);

-- One row per player who deposits: its lock makes the deposits of one player, and so the day's sum, one after another.
create table payments.depositor (
  player_id text collate "C" primary key
);

create table payments.withdrawal (
  id text collate "C" primary key,
  operation_id text collate "C" not null,
  brand_id text collate "C" not null,
  operator_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  time_zone text not null,
  player_id text collate "C" not null,
  amount bigint not null check (amount > 0),
  currency text not null,
  method text not null,
  destination text not null,
  -- The first three are seen by nobody outside: see domain/withdrawal.ts.
  status text not null check (status in ('intent', 'refused', 'abandoned',
    'under_review', 'approved', 'paid', 'rejected', 'cancelled', 'failed')),
  reason text,
  version integer not null check (version >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reviewed_at timestamptz,
  paid_at timestamptz,
  approved_by text,
  -- When an intent came to nothing: such rows, and no others, are purged.
  dropped_at timestamptz,
  check ((status in ('refused', 'abandoned')) = (dropped_at is not null)),
  check ((status = 'paid') = (paid_at is not null)),
  check ((version = 0) = (status in ('intent', 'refused', 'abandoned')))
);
-- A retry finds the intent of its operation; after an abandoned one it begins another.
create unique index withdrawal_of_operation on payments.withdrawal (operation_id) where status <> 'abandoned';
create index withdrawal_attempts on payments.withdrawal (operation_id);
create index withdrawal_intent on payments.withdrawal (created_at) where status = 'intent';
create index withdrawal_dropped on payments.withdrawal (dropped_at) where dropped_at is not null;
create index withdrawal_queue on payments.withdrawal (status, id) where status in ('under_review', 'approved');

-- Who changed what, when and why, of deposits and withdrawals alike.
create table payments.status_transition (
  record_id text collate "C" not null,
  version integer not null,
  from_status text,
  to_status text not null,
  at timestamptz not null,
  by_kind text not null check (by_kind in ('operator', 'team', 'sandbox')),
  -- Null for an operator: it is the record's.
  by_name text,
  reason text,
  operation_id text collate "C" not null,
  primary key (record_id, version)
);
create trigger append_only before update or delete on payments.status_transition
  for each row execute function payments.refuse_change();
create trigger append_only_truncate before truncate on payments.status_transition
  execute function payments.refuse_change();
revoke update, delete on payments.status_transition from backoffice_payments;
-- Nothing recorded is ever deleted; of withdrawals only intents that came to nothing.
create function payments.keep_records() returns trigger language plpgsql as $$
begin
  if to_jsonb(old) ->> 'dropped_at' is not null then return old; end if;
  raise exception 'records are kept: % on %.%', tg_op, tg_table_schema, tg_table_name;
end $$;
create trigger keep_records before delete on payments.deposit for each row execute function payments.keep_records();
create trigger keep_records before delete on payments.withdrawal for each row execute function payments.keep_records();
revoke delete on payments.deposit from backoffice_payments;
`,
}
