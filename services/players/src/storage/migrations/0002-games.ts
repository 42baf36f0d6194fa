import type { Migration } from '@backoffice/service-runtime/migrations'

export const gameTables: Migration = {
  name: '0002_games',
  sql: `
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
create index game_session_player on players.game_session (player_id);
create index game_session_expires_at on players.game_session (expires_at);
`,
}
