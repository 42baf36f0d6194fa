import type { Migration } from '@backoffice/service-runtime/migrations'

/** Reconciliation reads what any service may have written, and no row may keep it from reading the others. */
export const readableForJudges: Migration = {
  name: '0013_readable_for_judges',
  sql: `
-- A text within a document by its path; null where there is none. A document may hold what PostgreSQL makes no text of,
-- such as an escaped zero: then every operator that looks into it fails.
create function wallet.json_text(document json, variadic path text[]) returns text language plpgsql immutable as $$
begin
  return document #>> path;
exception when others then
  return null;
end $$;

-- A sum is a number, and entries are numbered from one, where chains are read from. Not validated: that would read every
-- row under a lock.
alter table wallet.entry add check (seq > 0) not valid;
alter table wallet.system_checkpoint add check (balance <> 'NaN') not valid;
alter table wallet.account_checkpoint add check (balance <> 'NaN') not valid;
`,
}
