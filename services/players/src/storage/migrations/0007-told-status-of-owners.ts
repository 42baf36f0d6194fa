import type { Migration } from '@backoffice/service-runtime'

/** The team lists who is self-excluded, of an environment or a brand: what operators were told says it of every account. */
export const toldStatusOfOwners: Migration = {
  name: '0007_told_status_of_owners',
  sql: `
alter table players.told_status add column environment text, add column brand_id text collate "C";

-- Whoever writes the row, and whatever release.
create function players.name_owner_of_told() returns trigger language plpgsql as $$
begin
  select environment, brand_id into new.environment, new.brand_id from players.player where id = new.player_id;
  return new;
end $$;
create trigger name_owner before insert on players.told_status for each row execute function players.name_owner_of_told();

update players.told_status t set environment = p.environment, brand_id = p.brand_id
from players.player p where p.id = t.player_id;

create index told_status_excluded on players.told_status (environment, player_id) where status = 'autoexcluido';
create index told_status_excluded_of_brand on players.told_status (brand_id, player_id) where status = 'autoexcluido';
`,
}
