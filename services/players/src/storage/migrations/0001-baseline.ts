import {
  appendOnly,
  brandTable,
  changed,
  type Migration,
  neverDeleted,
  onlyInSandbox,
} from '@backoffice/service-runtime'
import { reconcilableViews, shownToReconciler } from '@backoffice/team-access/migrations'
import { stroked } from '../../players/player.ts'

/** Players with their identity checks and histories, and the games that they play. */
export const baseline: Migration = {
  name: '0001_baseline',
  sql: `
${brandTable('players')}
-- The words of a name are compared without case and accents, so that they are found however they are typed.
create function players.name_words(name text) returns tsvector language sql immutable parallel safe
  -- Letters apart from their accents, which are left out, and from their strokes. What joins words separates them.
  return to_tsvector('simple'::regconfig, translate(
    regexp_replace(normalize(name, nfd), '[\\u0300-\\u036f]', '', 'g'),
    $$.-_/@:'’,+&()"${stroked.letters}$$, '               ${stroked.plain}'));

create table players.player (
  id text collate "C" primary key,
  operator_id text collate "C" not null,
  brand_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  currency char(3) not null,
  time_zone text not null,
  external_id text not null,
  name text not null,
  -- Sealed as one. Null: they are in the columns of their own. Else those are empty.
  sealed_identity text,
  email text not null,
  -- Kept as text: it may begin with a zero. Not unique: one person may have several accounts.
  cpf text not null,
  phone text,
  -- What the sealed ones are found by: keyed digests. Null: not sealed yet, or anonymised; of the phone, no number.
  cpf_digest text collate "C",
  email_digest text collate "C",
  phone_digest text collate "C",
  birth_date date not null,
  status text not null,
  kyc_status text not null,
  -- Rises with each decision: receivers of events drop what is older.
  kyc_version integer not null,
  kyc_decided_at timestamptz,
  kyc_reason text,
  -- When an approval ends by itself. Null: it does not. It is kept with the decision, so a later setting changes no earlier
  -- one.
  kyc_expires_at timestamptz,
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
-- The queue of one environment: what waits in the sandbox, for ever perhaps, is not read for that of production.
create index player_kyc_queue_of_environment on players.player (environment, id)
  where kyc_status in ('pendente', 'em_analise');
-- Approvals that have ended are looked for all the time.
create index player_kyc_expires on players.player (kyc_expires_at)
  where kyc_status = 'aprovado' and kyc_expires_at is not null;
-- The team finds players by each of these, of whatever brand.
create index player_external_id on players.player (external_id);
create index player_cpf_digest on players.player (cpf_digest) where cpf_digest is not null;
create index player_email_digest on players.player (email_digest) where email_digest is not null;
create index player_phone_digest on players.player (phone_digest) where phone_digest is not null;
-- Without a list of pending entries, which one registration would have to put into the index for thousands of others.
create index player_name_words on players.player using gin (players.name_words(name)) with (fastupdate = off);
-- Self-exclusions are of the person: whether one runs is asked by the CPF, at every deposit and session.
create index player_excluded_person on players.player (brand_id, cpf_digest)
  where status = 'autoexcluido' or self_excluded_from is not null;
-- A player is never deleted, and stays with its brand and currency. Name, e-mail and CPF can be overwritten, since the law
-- may ask for that.
${neverDeleted('players.player')}
create trigger keep_identity before update on players.player for each row
  when (${changed('id', 'operator_id', 'brand_id', 'environment', 'currency', 'created_at')})
  execute function players.refuse_edit();

create table players.kyc_submission (
  id text collate "C" primary key,
  player_id text collate "C" not null references players.player,
  document_type text not null,
  reference text not null,
  submitted_at timestamptz not null,
  -- Of the digest of what a reviewer saw, which the audit trail keeps. It is forgotten with the reference.
  salt text not null default gen_random_uuid()::text
);
create index kyc_submission_player on players.kyc_submission (player_id, id desc);
-- What was submitted is not edited. A reference to a document can be replaced by 'anonymised'.
${neverDeleted('players.kyc_submission')}
create trigger keep_submission before update on players.kyc_submission for each row
  when (new.reference <> 'anonymised' or ${changed('id', 'player_id', 'document_type', 'submitted_at')})
  execute function players.refuse_edit();
revoke update on players.kyc_submission from backoffice_players;
grant update (reference, salt) on players.kyc_submission to backoffice_players;

-- Who of the team works on a player's identity check. A row that nobody removed counts for minutes and is purged.
create table players.taken_case (
  player_id text collate "C" primary key,
  taken_by text not null,
  taken_at timestamptz not null
);
create index taken_case_taken_at on players.taken_case (taken_at);

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
-- Reconciliation looks for the decisions since its last run.
create index player_change_of_kyc on players.player_change (at, id) where field = 'kycStatus';
create index player_change_of_status on players.player_change (at, id) where field in ('status', 'selfExclusion');
${appendOnly('players.player_change')}
-- The sandbox's way to decide, without a person, is for brands of the sandbox.
${onlyInSandbox('players.player_change', {
  when: "new.actor = 'sandbox'",
  column: 'player_id',
  record: 'players.player',
})}
-- Where the documents of an operator open.
create table players.document_source (
  operator_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  -- Null: the links are switched off, and the key stays.
  template text,
  -- When the template was last another one: for a day reviewers are told. Null: it is as it was made.
  template_changed_at timestamptz,
  sealed_key text not null,
  key_created_at timestamptz not null,
  primary key (operator_id, environment)
);

create table players.game (
  id text collate "C" primary key,
  name text not null,
  provider text not null,
  category text not null,
  rtp numeric(5, 2) not null,
  demo boolean not null,
  position integer not null
);
insert into players.game (id, name, provider, category, rtp, demo, position) values
  ('fortune-reels', 'Fortune Reels', 'Demo Studio', 'slots', 96.12, true, 1),
  ('amazon-gold', 'Amazon Gold', 'Demo Studio', 'slots', 96.12, true, 2),
  ('carnival-nights', 'Carnival Nights', 'Demo Studio', 'slots', 96.12, true, 3),
  ('ocean-treasure', 'Ocean Treasure', 'Blue Harbor Games', 'slots', 96.12, true, 4),
  ('star-miner', 'Star Miner', 'Blue Harbor Games', 'arcade', 96.12, true, 5),
  ('lucky-tiger', 'Lucky Tiger', 'Northern Lights', 'slots', 96.12, true, 6),
  ('crystal-cave', 'Crystal Cave', 'Northern Lights', 'arcade', 96.12, true, 7),
  ('fruit-classic', 'Fruit Classic', 'Demo Studio', 'classic', 96.12, true, 8);

-- A game is in every brand's catalogue but where a row here says otherwise.
create table players.brand_game (
  brand_id text collate "C" not null,
  game_id text collate "C" not null references players.game,
  available boolean not null,
  primary key (brand_id, game_id)
);

create table players.game_session (
  id text collate "C" primary key,
  player_id text collate "C" not null references players.player,
  brand_id text collate "C" not null,
  game_id text not null,
  mode text not null check (mode in ('demo', 'real')),
  game_url text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Of a demonstration: the token's SHA-256, and the fictitious balance in minor units.
  token_sha256 bytea unique,
  demo_balance bigint check (demo_balance >= 0),
  check ((mode = 'demo') = (token_sha256 is not null))
);
-- The team reads a player's game sessions page by page, newest first.
create index game_session_of_player on players.game_session (player_id, id);
create index game_session_expires_at on players.game_session (expires_at);

-- The public games serve anybody, so they have a login of their own. It finds a demonstration by its token, changes its
-- balance, and reads the catalogue. It does not learn whose session it is, and nothing else is open to it.
grant usage on schema players to backoffice_games;
grant select (id, name, provider) on players.game to backoffice_games;
grant select (token_sha256, game_id, demo_balance, expires_at) on players.game_session to backoffice_games;
grant update (demo_balance) on players.game_session to backoffice_games;

-- Reconciliation looks whether every player has an account, or a command on the way that opens one, and verifies who decided
-- on identities, on what players may do and where documents open. It sees nothing else about a person; a decision's reason
-- is among what was signed.
${reconcilableViews('players')}
${shownToReconciler('players', {
  reconcilable_player: `
  select id, brand_id, environment, kyc_status, status, self_excluded_from, self_excluded_until from players.player`,
  reconcilable_kyc_change: `
  select id, player_id, at, actor, next from players.player_change where field = 'kycStatus'`,
  reconcilable_kyc_decision: `
  select * from players.audit_evidence where operation = 'decideKyc'`,
  reconcilable_document_source: `
  select operator_id || '/' || environment as id, operator_id, environment, template from players.document_source`,
  reconcilable_status_change: `
  select id, player_id, at, actor, field, previous, next from players.player_change where field in ('status', 'selfExclusion')`,
  reconcilable_setting: `
  select * from players.audit_evidence where operation in ('setPlayerStatus', 'selfExcludePlayer', 'setDocumentUrl')`,
})}
`,
}
