import type { Migration } from '@backoffice/service-runtime/migrations'

export const playerTables: Migration = {
  name: '0001_players',
  sql: `
create table players.player (
  id text collate "C" primary key,
  operator_id text collate "C" not null,
  brand_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  currency char(3) not null,
  time_zone text not null,
  external_id text not null,
  name text not null,
  email text not null,
  -- Kept as text: it may begin with a zero. Not unique: one person may have several accounts.
  cpf text not null,
  phone text,
  birth_date date not null,
  status text not null,
  kyc_status text not null,
  -- Rises with each decision: receivers of events drop what is older.
  kyc_version integer not null,
  kyc_decided_at timestamptz,
  kyc_reason text,
  self_excluded_from timestamptz,
  -- Null while self_excluded_from is set: for good.
  self_excluded_until timestamptz,
  -- In minor units.
  daily_deposit_limit bigint check (daily_deposit_limit > 0),
  pending_limit bigint check (pending_limit > 0),
  pending_limit_from timestamptz,
  created_at timestamptz not null,
  unique (brand_id, external_id)
);
create index player_brand on players.player (brand_id, id desc);
create index player_kyc_queue on players.player (kyc_status) where kyc_status in ('pendente', 'em_analise');
create table players.kyc_submission (
  id text collate "C" primary key,
  player_id text collate "C" not null references players.player,
  document_type text not null,
  reference text not null,
  submitted_at timestamptz not null
);
create index kyc_submission_player on players.kyc_submission (player_id, id desc);
-- Who changed what of a player, and when. Nothing is ever taken back here.
create table players.player_change (
  id bigint generated always as identity primary key,
  player_id text collate "C" not null references players.player,
  at timestamptz not null,
  actor text not null,
  field text not null,
  previous text,
  next text,
  reason text
);
create index player_change_player on players.player_change (player_id, id desc);
create trigger append_only before update or delete on players.player_change for each row execute function players.refuse_change();
create trigger append_only_truncate before truncate on players.player_change execute function players.refuse_change();
revoke update, delete on players.player_change from backoffice_players;
`,
}
