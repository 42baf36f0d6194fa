import type { Migration } from '@backoffice/service-runtime/migrations'

export const endedCommands: Migration = {
  name: '0004_ended_commands',
  sql: `
-- The commands that were given up: the reason why a confirmed deposit has failed.
create table payments.ended_command (
  command_id text collate "C" primary key,
  deposit_id text collate "C" not null unique,
  proposed_by text not null,
  proposal_operation_id text collate "C" not null,
  ended_by text not null,
  ended_at timestamptz not null,
  operation_id text collate "C" not null,
  check (proposed_by <> ended_by)
);
create trigger append_only before update or delete on payments.ended_command
  for each row execute function payments.refuse_change();
create trigger append_only_truncate before truncate on payments.ended_command
  execute function payments.refuse_change();
revoke update, delete on payments.ended_command from backoffice_payments;
`,
}
