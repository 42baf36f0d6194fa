import { appendOnly, type Migration } from '@backoffice/service-runtime'
import { shownToReconciler } from '@backoffice/team-access/migrations'

/** What providers of games stake, win and give back. Amounts are bigint minor units (centavos). */
export const rounds: Migration = {
  name: '0003_rounds',
  sql: `
-- A round of one player: players of a live table share the provider's id. It is opened by its first bet and ends once.
create table wallet.round (
  id text collate "C" primary key,
  provider_id text collate "C" not null,
  brand_id text collate "C" not null,
  provider_round_id text collate "C" not null,
  account_id bigint not null,
  game_id text collate "C" not null,
  state text not null check (state in ('open', 'closed', 'void')),
  opened_at timestamptz not null,
  closed_at timestamptz,
  -- By what it ended: a bet, a win, a spin, a close or the last rollback of the provider's, or the team.
  closed_by text check (closed_by in ('bet', 'win', 'spin', 'close', 'rollback', 'team')),
  -- The number of the account's last entry when it ended: no bet of the round comes behind it.
  closed_seq bigint,
  details_url text,
  -- Bets that were posted and not given back. The wallet counts them, so that nobody looks through the bets of a round.
  live_bets int not null default 1 check (live_bets >= 0),
  unique (provider_id, brand_id, provider_round_id, account_id),
  check (state <> 'open' or live_bets > 0),
  check (state <> 'void' or live_bets = 0),
  check ((state = 'open') = (closed_at is null)),
  check ((state = 'open') = (closed_by is null) and (state = 'open') = (closed_seq is null))
) with (fillfactor = 85);
create index round_open on wallet.round (opened_at) where state = 'open';
create index round_void on wallet.round (opened_at) where state = 'void';
create index round_open_of_account on wallet.round (account_id) where state = 'open';
create index round_of_account on wallet.round (account_id, opened_at);
create index round_by_time on wallet.round (brand_id, provider_id, opened_at);
create function wallet.keep_round() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then raise exception 'rounds are kept'; end if;
  if (new.id, new.provider_id, new.brand_id, new.provider_round_id, new.account_id, new.game_id, new.opened_at)
    is distinct from
    (old.id, old.provider_id, old.brand_id, old.provider_round_id, old.account_id, old.game_id, old.opened_at)
    or (old.state <> 'open' and ((new.state, new.closed_at, new.closed_by, new.closed_seq, new.details_url)
      is distinct from (old.state, old.closed_at, old.closed_by, old.closed_seq, old.details_url)
      -- The team may still give a bet back.
      or new.live_bets >= old.live_bets)) then
    raise exception 'a round keeps its identity, and once ended it stays as it is';
  end if;
  return new;
end $$;
create trigger keep before update or delete on wallet.round for each row execute function wallet.keep_round();
create trigger keep_rows before truncate on wallet.round execute function wallet.refuse_change();
revoke delete on wallet.round from backoffice_wallet;

-- What became of each transaction of a provider, for ever: one row by its kind and id. A spin is a bet and a win.
create table wallet.play (
  id text collate "C" primary key,
  provider_id text collate "C" not null,
  brand_id text collate "C" not null,
  kind text not null check (kind in ('bet', 'win', 'rollback')),
  transaction_id text collate "C" not null,
  account_id bigint not null,
  -- Null where no round was open: a refused stake, the tombstone of a bet, a promotion.
  round_id text collate "C",
  provider_round_id text collate "C",
  -- voided: a rollback came before this bet, which takes nothing. noted: a rollback that had nothing to give back.
  outcome text not null check (outcome in ('posted', 'refused', 'voided', 'noted')),
  -- Null where nothing was asked for or moved: a tombstone, a rollback that was refused or noted.
  amount bigint check (amount >= 0),
  -- Of a win and a rollback: the transaction_id of the bet that it names.
  bet_transaction_id text collate "C",
  win_kind text check (win_kind in ('win', 'jackpot', 'free_round', 'promotion')),
  is_spin boolean not null default false,
  -- It said that the round ends.
  ends_round boolean not null default false,
  -- A bet that stakes nothing.
  is_free boolean not null default false,
  session_id text collate "C",
  game_id text collate "C",
  campaign_id text,
  reason text,
  details_url text,
  provider_time timestamptz,
  -- The code and details of a refusal, the details as JSON text.
  refused_with text,
  refused_details text,
  -- Who the player was when the stake was judged, as JSON text.
  standing text,
  -- SHA-256 of the body that the provider signed, and our id of the request.
  body_digest bytea not null,
  request_id text not null,
  -- The number of the account's last entry after this play, and what could be staked then.
  seq bigint not null,
  balance_after bigint not null check (balance_after >= 0),
  created_at timestamptz not null,
  unique (provider_id, brand_id, kind, transaction_id),
  check ((outcome = 'refused') = (refused_with is not null)),
  check (outcome <> 'voided' or kind = 'bet'),
  check (outcome <> 'noted' or kind = 'rollback'),
  check ((kind = 'win') = (win_kind is not null)),
  check (outcome not in ('posted') or amount is not null),
  check (kind <> 'rollback' or bet_transaction_id is not null)
);
create index play_of_round on wallet.play (round_id) where round_id is not null;
-- What a bet was settled or given back by; the wins of a round that name none; what stands beside a round, or opened none.
create index play_of_bet on wallet.play (provider_id, brand_id, bet_transaction_id, kind)
  where bet_transaction_id is not null and outcome = 'posted';
create index play_without_bet on wallet.play (round_id)
  where kind = 'win' and bet_transaction_id is null and outcome = 'posted' and win_kind <> 'promotion';
create index play_unopened on wallet.play (account_id, provider_id, provider_round_id, outcome)
  where round_id is null;
create index play_of_account on wallet.play (account_id, id);
create index play_by_time on wallet.play (brand_id, created_at);
-- The team looks for what was refused; ids begin with their time.
create index play_refused on wallet.play (provider_id, brand_id, id) where outcome = 'refused';
create index play_of_refused_request on wallet.play (request_id) where outcome = 'refused';
-- Nobody is there to see them: an alert counts them.
create index play_refused_win on wallet.play (created_at) where kind = 'win' and outcome = 'refused';
${appendOnly('wallet.play')}

-- What one win of a provider in a brand may be without two people. Without a row the settings say it.
create table wallet.win_limit (
  provider_id text collate "C" not null,
  brand_id text collate "C" not null,
  max_win bigint not null check (max_win > 0),
  primary key (provider_id, brand_id)
);

-- Wins above the limit, which wait for two people. The provider sends them again.
create table wallet.held_win (
  provider_id text collate "C" not null,
  brand_id text collate "C" not null,
  transaction_id text collate "C" not null,
  account_id bigint not null,
  provider_round_id text collate "C",
  amount bigint not null check (amount > 0),
  first_at timestamptz not null,
  released_at timestamptz,
  primary key (provider_id, brand_id, transaction_id)
);
create index held_win_waiting on wallet.held_win (first_at) where released_at is null;
-- Reconciliation looks for the decisions since its last run.
create index held_win_released on wallet.held_win (released_at, (provider_id || '/' || brand_id || '/' || transaction_id))
  where released_at is not null;
revoke delete on wallet.held_win from backoffice_wallet;

-- The days of a brand that have ended, one after another from its first play on, with the sums of the ledger. Nothing is
-- entered into a day that has ended, so they stay as they are. A day with play was told to the operator in the same commit.
create table wallet.play_day (
  brand_id text collate "C" not null,
  day date not null,
  -- A line for each provider and currency.
  sums json not null,
  closed_at timestamptz not null,
  primary key (brand_id, day)
);
create index play_day_closed on wallet.play_day (closed_at, brand_id, day);
${appendOnly('wallet.play_day')}

-- The wallet publishes events from here on, and who reacts to them sees which were published.
grant usage on schema wallet to backoffice_webhooks;
grant select (published_at, id) on wallet.published_event to backoffice_webhooks;
-- Reconciliation reads rounds and plays as they are: the hash chains cover every column of what moved money. Of the trail it
-- reads what the team did about them, and of the events what operators were told of a day.
grant select on wallet.round, wallet.play to backoffice_reconciler;
${shownToReconciler('wallet', {
  reconcilable_setting: `
  select * from wallet.audit_evidence where operation in ('setWinLimit', 'releaseWin', 'voidRound', 'endRound')`,
  reconcilable_win_limit: `
  select provider_id || '/' || brand_id as id, provider_id, brand_id, max_win from wallet.win_limit`,
  reconcilable_held_win: `
  select provider_id || '/' || brand_id || '/' || transaction_id as id, provider_id, brand_id, transaction_id, account_id, amount,
    released_at
  from wallet.held_win where released_at is not null`,
  reconcilable_play_day: `
  select json_build_array(brand_id, day)::text as id, brand_id, day, sums, closed_at from wallet.play_day`,
  reconcilable_day_event: `
  select id, published_at, coalesce(message #>> '{event,data,id}', id) as aggregate,
    wallet.json_text(message, 'event', 'brandId') as brand_id, wallet.json_text(message, 'event', 'data', 'day') as day,
    message #> '{event,data,providers}' as providers
  from wallet.published_event where wallet.json_text(message, 'event', 'type') = 'play.day_closed'`,
})}
`,
}
