import type { Migration } from '@backoffice/service-runtime'

/** Operators are told of each change of a player's status, also of one that a self-exclusion of another player causes. */
export const toldStatus: Migration = {
  name: '0006_told_status',
  sql: `
-- A player without a row has always had the status of its record.
create table players.told_status (
  player_id text collate "C" primary key,
  -- What its operator was told last.
  status text not null,
  -- When something happened that may have changed what is seen of this player and the others of its person, or will: the
  -- end of an exclusion. They are looked at when it is due. Null: nothing has.
  changed_at timestamptz,
  due_at timestamptz
);
create index told_status_due on players.told_status (due_at) where due_at is not null;

-- By a trigger, so that it holds for the release before as well. Who registers while an exclusion is entered does not see
-- it, nor is seen: half a minute later all who did are there.
create function players.look_at_status() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    insert into players.told_status (player_id, status, changed_at, due_at)
      values (new.id, old.status, now(), now() + interval '30 seconds')
      on conflict (player_id) do update set changed_at = excluded.changed_at, due_at = excluded.due_at;
  elsif exists (
    select from players.player e where e.brand_id = new.brand_id and e.cpf_digest = new.cpf_digest and e.id <> new.id
      and (e.status = 'autoexcluido' or e.self_excluded_from is not null)
  ) then
    insert into players.told_status (player_id, status, changed_at, due_at) values (new.id, new.status, now(), now());
  end if;
  return null;
end $$;
create trigger look_at_status after update on players.player for each row
  when ((old.status, old.self_excluded_from, old.self_excluded_until)
    is distinct from (new.status, new.self_excluded_from, new.self_excluded_until))
  execute function players.look_at_status();
create trigger look_at_new_status after insert on players.player for each row execute function players.look_at_status();

-- Exclusions that run: everybody has read their status, and each is looked at when it ends.
insert into players.told_status (player_id, status, changed_at, due_at)
select distinct same.id, 'autoexcluido', same.ends_at, same.ends_at from players.player p
cross join lateral (
  select p.id, case when p.self_excluded_until > now() then p.self_excluded_until end as ends_at
  union select o.id, case when o.self_excluded_until > now() then o.self_excluded_until end
  from players.player o where o.cpf_digest = p.cpf_digest and o.brand_id = p.brand_id
) same
where p.status = 'autoexcluido'
  or p.self_excluded_from is not null and (p.self_excluded_until is null or p.self_excluded_until > now());
`,
}
