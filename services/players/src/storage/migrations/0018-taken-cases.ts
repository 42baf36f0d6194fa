import type { Migration } from '@backoffice/service-runtime/migrations'

/** Who of the team works on a player's identity check. A row that nobody removed counts for minutes and is purged. */
export const takenCases: Migration = {
  name: '0018_taken_cases',
  sql: `
create table players.taken_case (
  player_id text collate "C" primary key,
  taken_by text not null,
  taken_at timestamptz not null
);
create index taken_case_taken_at on players.taken_case (taken_at);
`,
}
