import { brandTable, type Migration } from '@backoffice/service-runtime/migrations'

/** The sandbox's way to decide, without a person, is for brands of the sandbox. */
export const brand: Migration = {
  name: '0021_brand',
  sql: `
${brandTable('players')}
create function players.refuse_outside_sandbox() returns trigger language plpgsql as $$
begin
  if not exists (
    select from players.player p join players.brand b on b.id = p.brand_id
    where p.id = new.player_id and b.environment = 'sandbox'
  ) then
    raise exception 'only in the sandbox: %', new.player_id;
  end if;
  return new;
end $$;
create trigger only_in_sandbox before insert on players.player_change for each row
  when (new.actor = 'sandbox') execute function players.refuse_outside_sandbox();
`,
}
