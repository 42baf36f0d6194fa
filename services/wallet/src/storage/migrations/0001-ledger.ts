import type { Migration } from '@backoffice/service-runtime/migrations'

/** Accounts, transfers, entries and holds. Amounts are bigint minor units (centavos). */
export const ledger: Migration = {
  name: '0001_ledger',
  sql: `
-- A player's account keeps its balance inline and is locked by whoever posts to it. A system account (owner_id null, one
-- set per brand) has no balance here: it is derived from entries, so that no row is hot across players.
create table wallet.account (
  id bigint generated always as identity primary key,
  brand_id text collate "C" not null,
  owner_id text collate "C",
  kind text not null check (kind in ('player', 'deposits', 'withdrawals', 'adjustments')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  posted bigint not null default 0,
  held bigint not null default 0,
  -- Entries so far, and the hash of the last one: the head of the account's chain, which begins at a random value.
  seq bigint not null default 0,
  genesis bytea not null,
  head bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((kind = 'player') = (owner_id is not null)),
  check (held >= 0 and posted - held >= 0),
  check (kind = 'player' or (posted = 0 and held = 0 and seq = 0))
) with (fillfactor = 70);
create unique index account_of_player on wallet.account (brand_id, owner_id) where owner_id is not null;
create unique index account_of_system on wallet.account (brand_id, kind, currency) where owner_id is null;

-- Money moves from the debit account to the credit account. A refused transfer moved nothing: it is kept because its
-- reference gets the same answer for ever.
create table wallet.transfer (
  id text collate "C" primary key,
  brand_id text collate "C" not null,
  reference text collate "C" not null,
  type text not null check (type in ('DEPOSIT', 'WITHDRAWAL', 'ADJUSTMENT', 'REVERSAL')),
  debit_account bigint not null,
  credit_account bigint not null,
  amount bigint not null check (amount > 0),
  outcome text not null check (outcome in ('posted', 'insufficient_funds')),
  reverses text collate "C",
  reason text,
  effective_at timestamptz not null,
  created_at timestamptz not null,
  check (debit_account <> credit_account),
  check ((type = 'REVERSAL') = (reverses is not null)),
  unique (brand_id, reference)
);
create unique index transfer_one_reversal on wallet.transfer (reverses) where reverses is not null and outcome = 'posted';
create index transfer_of_period on wallet.transfer (brand_id, created_at, id) where outcome = 'posted';

-- Two entries a transfer, which sum to zero. seq, balance and hash are those of guarded accounts; xid lets a checkpoint
-- of a system account take only what no running transaction can still add to.
create table wallet.entry (
  account_id bigint not null,
  seq bigint,
  transfer_id text collate "C" not null,
  amount bigint not null check (amount <> 0),
  balance bigint check (balance >= 0),
  hash bytea,
  xid xid8 not null default pg_current_xact_id(),
  check ((seq is null) = (balance is null) and (seq is null) = (hash is null))
);
create unique index entry_in_order on wallet.entry (account_id, seq) where seq is not null;
create index entry_of_system on wallet.entry (account_id, xid) where seq is null;
create index entry_of_transfer on wallet.entry (transfer_id);

-- A hold with state 'refused' froze INSUFFICIENT_FUNDS; one without amount is the tombstone of a release that came first.
create table wallet.hold (
  brand_id text collate "C" not null,
  reference text collate "C" not null,
  account_id bigint not null,
  amount bigint check (amount > 0),
  state text not null check (state in ('open', 'captured', 'released', 'refused')),
  transfer_id text collate "C",
  opened_at timestamptz,
  closed_at timestamptz,
  primary key (brand_id, reference),
  check ((state = 'captured') = (transfer_id is not null)),
  check ((state = 'open') = (closed_at is null)),
  check (state = 'released' or amount is not null),
  check ((amount is null) = (opened_at is null))
);
create index hold_open on wallet.hold (account_id) where state = 'open';

-- The balance of a system account from all entries whose xid is below the given one; the rest is summed on reading.
create table wallet.system_checkpoint (
  account_id bigint primary key,
  below xid8 not null,
  balance bigint not null,
  entries bigint not null,
  taken_at timestamptz not null
);
${appendOnly('transfer')}
${appendOnly('entry')}
-- Accounts and holds change, but only in what may change.
create function wallet.keep_account() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then raise exception 'accounts are kept'; end if;
  if (new.id, new.brand_id, new.kind, new.currency, new.genesis, new.created_at)
    is distinct from (old.id, old.brand_id, old.kind, old.currency, old.genesis, old.created_at)
    or new.owner_id is distinct from old.owner_id or new.seq < old.seq then
    raise exception 'an account keeps its identity and its order';
  end if;
  return new;
end $$;
create function wallet.keep_hold() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then raise exception 'holds are kept'; end if;
  if (new.brand_id, new.reference, new.account_id) is distinct from (old.brand_id, old.reference, old.account_id)
    or new.amount is distinct from old.amount or old.state <> 'open' then
    raise exception 'a hold keeps its identity, and once closed it stays as it is';
  end if;
  return new;
end $$;
create trigger keep before update or delete on wallet.account for each row execute function wallet.keep_account();
create trigger keep before update or delete on wallet.hold for each row execute function wallet.keep_hold();
create trigger keep_rows before truncate on wallet.account execute function wallet.refuse_change();
create trigger keep_rows before truncate on wallet.hold execute function wallet.refuse_change();
revoke delete, truncate on wallet.account, wallet.hold from backoffice_wallet;
`,
}

/** Nobody changes or removes a row: rights say so to the service, a trigger says so to everybody. */
function appendOnly(table: string): string {
  return `
create trigger append_only before update or delete on wallet.${table} for each row execute function wallet.refuse_change();
create trigger append_only_truncate before truncate on wallet.${table} execute function wallet.refuse_change();
revoke update, delete, truncate on wallet.${table} from backoffice_wallet;`
}
