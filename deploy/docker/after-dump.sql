-- Another server than that of a logical dump has its own transaction ids, and those in the dump seem to be still to come.
-- Before anybody enters anything, this lets ids pass until they are past. It takes a minute for some millions of them.
do $$
declare
  stored record;
  one xid8;
  ahead xid8 := '0';
begin
  perform set_config('synchronous_commit', 'off', false);
  for stored in
    select c.oid::regclass as "table", a.attname as "column" from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relkind = 'r' and a.atttypid = 'xid8'::regtype and not a.attisdropped
  loop
    execute format('select %1$I from %2$s order by %1$I desc limit 1', stored."column", stored."table") into one;
    ahead := greatest(ahead, one);
  end loop;
  while pg_current_xact_id() <= ahead loop commit; end loop;
end $$;
