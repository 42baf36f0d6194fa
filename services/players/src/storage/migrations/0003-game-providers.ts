import type { Migration } from '@backoffice/service-runtime'
import { shownToReconciler } from '@backoffice/team-access/migrations'

/** Games that are played for money, and who serves them. */
export const gameProviders: Migration = {
  name: '0003_game_providers',
  sql: `
-- The game with which the sandbox's money is staked. It is in the catalogue of the sandbox's brands alone, once a provider
-- serves it.
alter table players.game add column stakes_sandbox_wallet boolean not null default false;
insert into players.game (id, name, provider, category, rtp, demo, position, stakes_sandbox_wallet) values
  ('wallet-reels', 'Wallet Reels', 'Sandbox', 'slots', 95.00, true, 9, true);

-- Who stakes in the sessions of a game. A game without a row here moves no money.
create table players.game_provider (
  game_id text collate "C" primary key references players.game,
  provider_id text collate "C" not null
);

-- The public games are the provider of that game, so they learn of its sessions whose money they stake, and of no others.
create view players.sandbox_wallet_session as
  select s.token_sha256, s.id, s.brand_id, s.player_id, p.currency
  from players.game_session s join players.game g on g.id = s.game_id join players.player p on p.id = s.player_id
  where g.stakes_sandbox_wallet and s.mode = 'demo';
revoke all on players.sandbox_wallet_session from backoffice_players, backoffice_reconciler;
grant select on players.sandbox_wallet_session to backoffice_games;

-- Reconciliation looks whether a bet belonged to a session that was open, and whether the person was excluded by then: it sees
-- the changes of all players of a person by the id of each of them, and never by what says that they are one.
${shownToReconciler('players', {
  reconcilable_session: `
  select id, player_id, brand_id, game_id, mode, created_at, expires_at from players.game_session`,
  reconcilable_person_change: `
  select p.id as player_id, c.id, c.player_id as changed_id, c.at, c.field, c.next
  from players.player p
  cross join lateral (
    select p.id
    union select o.id from players.player o where o.cpf_digest = p.cpf_digest and o.brand_id = p.brand_id
  ) same
  join players.player_change c on c.player_id = same.id and c.field in ('status', 'selfExclusion')`,
  reconcilable_game_provider: `
  select game_id as id, provider_id from players.game_provider`,
})}
create or replace view players.reconcilable_setting as
  select * from players.audit_evidence
  where operation in ('setPlayerStatus', 'selfExcludePlayer', 'setDocumentUrl', 'setGameProvider');
`,
}
