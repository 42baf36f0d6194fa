import { eventKinds, events, roleName, type ServiceName } from '@backoffice/contracts'

// What several tables ask of their rows, as SQL for the migration that creates them. A rule that PostgreSQL keeps holds for
// everybody, whatever code or person writes.

/** A table with its schema: `schema.table`. */
type Table = `${ServiceName}.${string}`

const schemaOf = (table: Table): ServiceName => table.split('.')[0] as ServiceName

/** The functions that the triggers below call. Each schema has them. */
const refusals = (schema: ServiceName): string => `
create function ${schema}.refuse_change() returns trigger language plpgsql as $$
begin raise exception 'append-only: % on %.%', tg_op, tg_table_schema, tg_table_name; end $$;
create function ${schema}.refuse_edit() returns trigger language plpgsql as $$
begin raise exception 'kept as it was written: % on %.%', tg_op, tg_table_schema, tg_table_name; end $$;
`

/** Nobody changes or removes a row: rights say so to the service, triggers say so to everybody. */
export const appendOnly = (table: Table): string => `
create trigger append_only before update or delete on ${table} for each row execute function ${schemaOf(table)}.refuse_change();
create trigger append_only_truncate before truncate on ${table} execute function ${schemaOf(table)}.refuse_change();
revoke update, delete on ${table} from ${roleName(schemaOf(table))};
`

/** Nobody removes a row. */
export const neverDeleted = (table: Table): string => `
create trigger keep_records before delete on ${table} for each row execute function ${schemaOf(table)}.refuse_change();
create trigger keep_records_truncate before truncate on ${table} execute function ${schemaOf(table)}.refuse_change();
revoke delete on ${table} from ${roleName(schemaOf(table))};
`

/** What differs between the former and the new row of an UPDATE. Where nothing of it does, that costs nothing. */
export const changed = (...columns: readonly string[]): string =>
  `(${columns.map((column) => `new.${column}`).join(', ')}) is distinct from (${columns.map((column) => `old.${column}`).join(', ')})`

/**
 * A row that a service may write without a person, in the sandbox only.
 * @param when which rows of the table are meant
 * @param record the column of the table that names the record, and the table of that record, which has a `brand_id`
 */
export const onlyInSandbox = (
  table: Table,
  { when, column, record }: { readonly when: string; readonly column: string; readonly record: Table },
): string => `
create function ${schemaOf(table)}.refuse_outside_sandbox() returns trigger language plpgsql as $$
begin
  if not exists (
    select from ${record} r join ${schemaOf(table)}.brand b on b.id = r.brand_id
    where r.id = new.${column} and b.environment = 'sandbox'
  ) then
    raise exception 'only in the sandbox: %', new.${column};
  end if;
  return new;
end $$;
create trigger only_in_sandbox before insert on ${table} for each row
  when (${when}) execute function ${schemaOf(table)}.refuse_outside_sandbox();
`

/** A step of a schema. Steps only add: the release before must run on the new schema. */
export interface Migration {
  /** Never changes: a migration is applied once, in the order of the list. */
  readonly name: string
  /** One transaction with short time limits, because requests wait for the locks that it takes. */
  readonly sql: string
  /**
   * False: `sql` is a single statement that takes long, outside of a transaction and without time limits, because nobody
   * waits for it: `create index concurrently … on …`, `drop index concurrently if exists …`, or
   * `alter table … validate constraint …`. Each may be run again.
   */
  readonly transactional?: false
}

/**
 * What the runtime and a service's plugins keep in its schema. Every service lists these migrations first. What a later
 * release adds comes after the baseline, as a migration of its own.
 * @param plugged the SQL of a plugin's tables
 */
export const runtimeMigrations = (
  service: ServiceName,
  ...plugged: readonly ((service: ServiceName) => string)[]
): readonly Migration[] => [
  {
    name: '0000_runtime_baseline',
    sql: [refusals, operations, outbox, publishedEvents, inbox, ...plugged, youngTables]
      .map((part) => part(service))
      .join('\n'),
  },
]

/**
 * The brands that a service knows, as the gateway has registered them: whose they are and where they belong. No message is
 * believed about that, and it never changes. Each service but the gateway, whose own table has these columns too, lists it
 * among its own migrations.
 */
export const brandTable = (service: ServiceName): string => `
create table ${service}.brand (
  id text collate "C" primary key,
  operator_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  currency text not null,
  time_zone text not null
);
${appendOnly(`${service}.brand`)}`

/**
 * Rows of this and the next tables come and go. They are vacuumed after a fiftieth of them has gone instead of a fifth, so
 * that space is used again before the table grows; the outbox, which is nearly empty, after a thousand.
 */
const comesAndGoes = 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05'

const operations = (service: ServiceName): string => `
create table ${service}.operation (
  operation_id text collate "C" primary key,
  name text not null,
  -- What the id stands for, besides the name. Null on a tombstone.
  fingerprint text,
  -- {"body": …} or {"error": …}; null on a tombstone, and where nothing of it is kept. json, not jsonb: a replay answers the
  -- same bytes.
  reply json,
  abandoned boolean not null default false,
  -- Null for an operation of the team, and on a tombstone.
  environment text,
  created_at timestamptz not null
) with (${comesAndGoes});
create index operation_created_at on ${service}.operation (created_at);
`

/** A row leaves the table when it is done. */
const outbox = (service: ServiceName): string => `
create table ${service}.outbox (
  id text collate "C" primary key,
  aggregate text collate "C" not null,
  aggregate_seq bigint not null,
  kind text not null check (kind in ('event', 'command')),
  name text not null,
  message json not null,
  environment text not null,
  -- Null where no request asked for it.
  operation_id text,
  created_at timestamptz not null,
  leased_until timestamptz,
  attempts integer not null default 0,
  -- Why it could not be sent the last time.
  last_fault text,
  unique (aggregate, aggregate_seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);
create index outbox_created_at on ${service}.outbox (created_at);
create index outbox_command_of_operation on ${service}.outbox (operation_id) where kind = 'command';
`

/** Of one service: some ten million events. */
const publishedEventsBytesMax = 16 * 1024 ** 3

/**
 * The log of published events, which fills a lost stream, in a partition for each day. A day is dropped, since that costs
 * nothing, while deleting its rows would cost as much as writing them.
 */
const publishedEvents = (service: ServiceName): string => `
create table ${service}.published_event (
  -- In milliseconds, on PostgreSQL's clock.
  published_at timestamptz not null,
  -- Of the event. Not unique: PostgreSQL could hold that in each partition only, and a row comes here by leaving the outbox.
  id text collate "C" not null,
  message json not null
) partition by range (published_at);
create index published_event_at on ${service}.published_event (published_at);
-- By the record that it is about, for reconciliation.
create index published_event_about on ${service}.published_event ((coalesce(message #>> '{event,data,id}', id)));
-- Takes what no partition was made for: a partition that is missing stops nothing.
create table ${service}.published_event_other partition of ${service}.published_event default;
-- What webhooks has not looked for is kept, and what it did not find, until the log is larger than its bound.
create function ${service}.published_events_due(own_clock timestamptz, keep_seconds double precision) returns timestamptz
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  due constant timestamptz := least(own_clock, now()) - make_interval(secs => keep_seconds);
begin
  if to_regclass('webhooks.judged_event') is null or ${publishedEventsBytesMax} < (
    select coalesce(sum(pg_total_relation_size(inhrelid)), 0) from pg_inherits
    where inhparent = '${service}.published_event'::regclass
  ) then return due; end if;
  return least(
    due, (select published_at from webhooks.judged_event where service = '${service}'),
    (select min(published_at) from webhooks.missing_delivery where service = '${service}'));
end $$;
create function ${service}.unheard_events() returns table (published_at timestamptz, id text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass('webhooks.missing_delivery') is null then return; end if;
  return query select m.published_at, m.event_id from webhooks.missing_delivery m where m.service = '${service}';
end $$;
create function ${service}.tend_published_events(own_clock timestamptz, keep_seconds double precision) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Whoever reads or writes the log waits no longer than that. What cannot be done now is done an hour later.
set lock_timeout = '250ms'
as $$
declare
  parent constant regclass := '${service}.published_event';
  -- By both clocks, and never what may still be needed, whoever asks.
  due constant timestamptz := ${service}.published_events_due(own_clock, greatest(keep_seconds, 49 * 3600));
  first_at timestamptz;
  part text;
  dropped integer := 0;
begin
  if not pg_try_advisory_xact_lock(parent::oid::bigint) then return 0; end if;
  for day in 0..7 loop
    first_at := (date_trunc('day', now() at time zone 'UTC') + make_interval(days => day)) at time zone 'UTC';
    part := 'published_event_' || to_char(first_at at time zone 'UTC', 'YYYYMMDD');
    continue when to_regclass('${service}.' || part) is not null or exists (
      select from ${service}.published_event_other
      where published_at >= first_at and published_at < first_at + interval '24 hours');
    -- Made first and attached then, which locks the log less than making it as a partition.
    execute format('create table ${service}.%I (like ${service}.published_event)', part);
    execute format('alter table %s attach partition ${service}.%I for values from (%L) to (%L)',
      parent, part, first_at, first_at + interval '24 hours');
  end loop;
  for part in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent and c.relname ~ '_[0-9]{8}$'
      and (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'UTC' <= due
  loop
    execute format('drop table ${service}.%I', part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;
revoke execute on function ${service}.tend_published_events, ${service}.published_events_due, ${service}.unheard_events from public;
grant execute on function ${service}.tend_published_events, ${service}.published_events_due, ${service}.unheard_events
  to ${roleName(service)};
select ${service}.tend_published_events(now(), ${365 * 24 * 3_600});
${publicationsSeen(service)}`

/**
 * Who reacts to the events of a service sees which were published, and when: so it can tell what it has never heard of. Of
 * what they say it sees nothing.
 */
function publicationsSeen(service: ServiceName): string {
  const ofService = eventKinds.map((kind) => events[kind]).filter(({ emittedBy }) => emittedBy === service)
  const readers = [...new Set(ofService.flatMap(({ consumedBy }) => consumedBy))].map(roleName).join(', ')
  if (readers === '') return ''
  return `
grant usage on schema ${service} to ${readers};
grant select (published_at, id) on ${service}.published_event to ${readers};
`
}

const inbox = (service: ServiceName): string => `
create table ${service}.inbox (
  consumer text not null,
  event_id text collate "C" not null,
  received_at timestamptz not null,
  primary key (consumer, event_id)
) with (${comesAndGoes});
create index inbox_received_at on ${service}.inbox (received_at);
create table ${service}.set_aside_message (
  id bigint generated always as identity primary key,
  consumer text not null,
  subject text not null,
  payload text not null,
  -- Nothing else could tell: a payload may be any text.
  sealed boolean not null default false,
  fault text not null,
  set_aside_at timestamptz not null
);
create table ${service}.stream_seen (
  stream text primary key,
  created text not null
);
`

/**
 * Analyses one table of the schema that has grown by half since PostgreSQL last looked at it, or that has rows and no
 * statistics: the smallest of them. By its size on disk, because the counters of rows do not survive a crash. Only the owner
 * of a table may analyse it.
 */
const youngTables = (service: ServiceName): string => `
create function ${service}.analyze_young_table() returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Somebody vacuums it, or another replica does the same. It is tried again after some seconds.
set lock_timeout = '250ms'
as $$
declare
  page constant integer := current_setting('block_size');
  young text;
begin
  select c.oid::regclass::text into young from pg_class c, pg_relation_size(c.oid) as bytes
  where c.relnamespace = '${service}'::regnamespace and c.relkind = 'r' and (
    bytes > c.relpages * page * 1.5
    -- What restores a dump builds the indexes last, and that sets both counts.
    or c.reltuples > 0 and not exists (select from pg_stats s where s.schemaname = '${service}' and s.tablename = c.relname)
  )
  order by bytes limit 1;
  if young is not null then execute format('analyze %s', young); end if;
  return young;
exception when lock_not_available then return null;
end $$;
revoke execute on function ${service}.analyze_young_table from public;
grant execute on function ${service}.analyze_young_table to ${roleName(service)};
`
