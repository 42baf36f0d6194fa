import { appendOnly, brandTable, type Migration } from '@backoffice/service-runtime'
import { reconcilableViews, shownToReconciler } from '@backoffice/team-access/migrations'

/** Accounts, transfers, entries and holds. Amounts are bigint minor units (centavos). */
const ledger = `
-- A player's account keeps its balance inline and is locked by whoever posts to it. A system account (owner_id null, one
-- set per brand, and one per brand and provider for what is played) has no balance here: it is derived from entries, so that
-- no row is hot across players.
create table wallet.account (
  id bigint generated always as identity primary key,
  brand_id text collate "C" not null,
  owner_id text collate "C",
  kind text not null check (kind in ('player', 'deposits', 'withdrawals', 'adjustments', 'play', 'jackpots', 'promotions')),
  -- The provider of games that the account is for; empty where it is for none.
  party text collate "C" not null default '',
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
  check ((kind in ('play', 'jackpots', 'promotions')) = (party <> '')),
  check (held >= 0 and posted - held >= 0),
  check (kind = 'player' or (posted = 0 and held = 0 and seq = 0))
) with (fillfactor = 70);
create unique index account_of_player on wallet.account (brand_id, owner_id) where owner_id is not null;
-- A player is of one brand. Whoever names it with another one opens no second account.
create unique index account_of_owner on wallet.account (owner_id) where owner_id is not null;
create unique index account_of_system on wallet.account (brand_id, kind, currency, party) where owner_id is null;
-- An account changes, but only in what may change. By the time of its last change its head is exported or not, so no process
-- says it.
create function wallet.keep_account() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then raise exception 'accounts are kept'; end if;
  if (new.id, new.brand_id, new.kind, new.currency, new.party, new.genesis, new.created_at)
    is distinct from (old.id, old.brand_id, old.kind, old.currency, old.party, old.genesis, old.created_at)
    or new.owner_id is distinct from old.owner_id or new.seq < old.seq then
    raise exception 'an account keeps its identity and its order';
  end if;
  new.updated_at := clock_timestamp();
  return new;
end $$;
create trigger keep before update or delete on wallet.account for each row execute function wallet.keep_account();
create trigger keep_rows before truncate on wallet.account execute function wallet.refuse_change();
revoke delete on wallet.account from backoffice_wallet;

-- Money moves from the debit account to the credit account. A refused transfer moved nothing: it is kept because its
-- reference gets the same answer for ever. So is a credit that two people of the team gave up (refused), which does nothing
-- when it arrives late.
create table wallet.transfer (
  id text collate "C" primary key,
  brand_id text collate "C" not null,
  reference text collate "C" not null,
  type text not null check (type in ('DEPOSIT', 'WITHDRAWAL', 'ADJUSTMENT', 'REVERSAL', 'BET', 'WIN', 'ROLLBACK', 'JACKPOT',
    'PROMOTION')),
  debit_account bigint not null,
  credit_account bigint not null,
  amount bigint not null check (amount > 0),
  outcome text not null check (outcome in ('posted', 'insufficient_funds', 'refused')),
  reverses text collate "C",
  reason text,
  effective_at timestamptz not null,
  created_at timestamptz not null,
  check (debit_account <> credit_account),
  -- Team and provider together give a stake back once: the index below knows both ways.
  check ((type in ('REVERSAL', 'ROLLBACK')) = (reverses is not null)),
  unique (brand_id, reference)
);
create unique index transfer_one_reversal on wallet.transfer (reverses) where reverses is not null and outcome = 'posted';
-- A brand's transfers of a period. The few of one moment are brought into the order of their ids when they are read.
create index transfer_by_time on wallet.transfer (brand_id, created_at) where outcome = 'posted';
-- A player's corrections of a day, which count together where one person made them: those that credited the account, and
-- those that debited it.
create index correction_credited on wallet.transfer (credit_account, created_at)
  where outcome = 'posted' and type in ('ADJUSTMENT', 'REVERSAL');
create index correction_debited on wallet.transfer (debit_account, created_at)
  where outcome = 'posted' and type in ('ADJUSTMENT', 'REVERSAL');
${appendOnly('wallet.transfer')}
-- The wallet finds both accounts of a transfer by brand, kind and currency. This holds it to that, since what is entered
-- between accounts that do not belong together cannot be taken back. A refused credit moves nothing, and was perhaps refused
-- for its currency.
create function wallet.check_sides() returns trigger language plpgsql as $$
begin
  if not exists (
    select from wallet.account d, wallet.account c
    where d.id = new.debit_account and c.id = new.credit_account
      and d.brand_id = new.brand_id and c.brand_id = new.brand_id
      and (d.currency = c.currency or new.outcome = 'refused')
      and case new.type
        when 'DEPOSIT' then d.kind = 'deposits' and c.kind = 'player'
        when 'WITHDRAWAL' then d.kind = 'player' and c.kind = 'withdrawals'
        when 'BET' then d.kind = 'player' and c.kind = 'play'
        when 'WIN' then d.kind = 'play' and c.kind = 'player'
        when 'ROLLBACK' then d.kind = 'play' and c.kind = 'player'
        when 'JACKPOT' then d.kind = 'jackpots' and c.kind = 'player'
        when 'PROMOTION' then d.kind = 'promotions' and c.kind = 'player'
        when 'ADJUSTMENT' then 'adjustments' in (d.kind, c.kind) and 'player' in (d.kind, c.kind)
        else (d.kind = 'player') <> (c.kind = 'player')
      end
  ) then
    raise check_violation using message = format('the accounts %s and %s do not belong to a %s of %s',
      new.debit_account, new.credit_account, new.type, new.brand_id);
  end if;
  return new;
end $$;
create trigger check_sides before insert on wallet.transfer for each row execute function wallet.check_sides();

-- Two entries a transfer, which sum to zero. seq, balance and hash are those of guarded accounts, which number their entries
-- from one; xid lets a checkpoint of a system account take only what no running transaction can still add to.
create table wallet.entry (
  account_id bigint not null,
  seq bigint check (seq > 0),
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
${appendOnly('wallet.entry')}
-- Times of transfers are written by the service, and could be wrong. Transaction ids are PostgreSQL's: by them it is told
-- what was entered after something else.
revoke insert on wallet.entry from backoffice_wallet;
grant insert (account_id, seq, transfer_id, amount, balance, hash) on wallet.entry to backoffice_wallet;

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
create function wallet.keep_hold() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then raise exception 'holds are kept'; end if;
  if (new.brand_id, new.reference, new.account_id) is distinct from (old.brand_id, old.reference, old.account_id)
    or new.amount is distinct from old.amount or old.state <> 'open' then
    raise exception 'a hold keeps its identity, and once closed it stays as it is';
  end if;
  return new;
end $$;
create trigger keep before update or delete on wallet.hold for each row execute function wallet.keep_hold();
create trigger keep_rows before truncate on wallet.hold execute function wallet.refuse_change();
revoke delete on wallet.hold from backoffice_wallet;

-- The balance of a system account from all entries whose xid is below the given one; the rest is summed on reading.
create table wallet.system_checkpoint (
  account_id bigint primary key,
  below xid8 not null,
  -- All players of a brand together may hold more than one balance can.
  balance numeric(38) not null check (balance <> 'NaN'),
  entries bigint not null,
  taken_at timestamptz not null
);
`

/**
 * What reconciliation compares. The ledger itself it reads as it is, since the hash chains cover every column of it; of the
 * trail it reads also what proves corrections.
 */
const reconcilable = `
${reconcilableViews('wallet')}
grant select on wallet.account, wallet.transfer, wallet.entry, wallet.hold, wallet.system_checkpoint, wallet.brand
  to backoffice_reconciler;
${shownToReconciler('wallet', {
  reconcilable_correction: `
  select * from wallet.audit_evidence where operation in ('adjustWallet', 'reverseTransfer')`,
})}
`

export const baseline: Migration = {
  name: '0001_baseline',
  sql: `${brandTable('wallet')}${ledger}${reconcilable}`,
}
