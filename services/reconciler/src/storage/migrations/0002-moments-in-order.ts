import type { Migration } from '@backoffice/service-runtime'

/** PostgreSQL itself refuses a moment after which others had higher transactions, also where another database sends it. */
export const momentsInOrder: Migration = {
  name: '0002_moments_in_order',
  sql: `
create function reconciler.keep_order() returns trigger language plpgsql as $$
begin
  -- After a dump was restored, transaction ids begin anew.
  if exists (select from reconciler.moment where xid > new.xid) then return null; end if;
  return new;
end $$;
create trigger keep_order before insert on reconciler.moment for each row execute function reconciler.keep_order();
`,
}
