import type { Migration } from '@backoffice/service-runtime/migrations'

/** By the time of its last change an account's head is exported or not, so no process says it. */
export const accountsStamped: Migration = {
  name: '0014_accounts_stamped',
  sql: `
create or replace function wallet.keep_account() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then raise exception 'accounts are kept'; end if;
  if (new.id, new.brand_id, new.kind, new.currency, new.genesis, new.created_at)
    is distinct from (old.id, old.brand_id, old.kind, old.currency, old.genesis, old.created_at)
    or new.owner_id is distinct from old.owner_id or new.seq < old.seq then
    raise exception 'an account keeps its identity and its order';
  end if;
  new.updated_at := clock_timestamp();
  return new;
end $$;
`,
}
