import type { Migration } from '@backoffice/service-runtime/migrations'

/** Whose account at the identity provider it was: a name may change. Null where nobody of the team did it. */
export const accounts: Migration = {
  name: '0021_accounts',
  sql: `
alter table payments.withdrawal add column approved_by_id text;
create trigger keep_approver before update on payments.withdrawal for each row
  when (old.approved_by is not null and new.approved_by_id is distinct from old.approved_by_id)
  execute function payments.refuse_edit();
alter table payments.status_transition add column by_id text;
`,
}
