import type { Migration } from '@backoffice/service-runtime'

/** A call and what it changed are found by the operation's id: one person can do two things in one millisecond. */
export const changesNameTheirOperation: Migration = {
  name: '0002_changes_name_their_operation',
  sql: `
-- Null: a release that did not write it.
alter table players.player_change add column operation_id text collate "C";

create or replace view players.reconcilable_kyc_change as
  select id, player_id, at, actor, next, operation_id from players.player_change where field = 'kycStatus';
create or replace view players.reconcilable_status_change as
  select id, player_id, at, actor, field, previous, next, operation_id
  from players.player_change where field in ('status', 'selfExclusion');
`,
}
