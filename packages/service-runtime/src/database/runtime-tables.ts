import { roleName, type ServiceName } from '@backoffice/contracts'

/** A step of a schema. Steps only add: the release before must run on the new schema. */
export interface Migration {
  /** Never changes: a migration is applied once, in the order of the list. */
  readonly name: string
  /** One transaction with short time limits, because requests wait for the locks that it takes. */
  readonly sql: string
  /**
   * False: `sql` is a single statement that takes long, outside of a transaction and without time limits, because nobody
   * waits for it: `create index concurrently … on …`, or `alter table … validate constraint …`. Both may be run again.
   */
  readonly transactional?: false
}

/** What the runtime keeps in each service's schema. Every service lists these migrations first. */
export const runtimeMigrations = (service: ServiceName): readonly Migration[] => [
  runtimeTables(service),
  operationFingerprint(service),
  environments(service),
  lastFault(service),
  sealedMessages(service),
]

/** Why a row could not be sent the last time. Null in what the release before tried. */
const lastFault = (service: ServiceName): Migration => ({
  name: '0000_runtime_last_fault',
  sql: `alter table ${service}.outbox add column last_fault text`,
})

/** What an operation id stands for, besides its name. Null in rows of the release before. */
const operationFingerprint = (service: ServiceName): Migration => ({
  name: '0000_runtime_operation_fingerprint',
  sql: `alter table ${service}.operation add column fingerprint text`,
})

/** Which environment a row belongs to. Null in rows of the release before, and of the team's operations. */
const environments = (service: ServiceName): Migration => ({
  name: '0000_runtime_environments',
  sql: `
alter table ${service}.operation add column environment text;
alter table ${service}.outbox add column environment text;
`,
})

/** Whether the payload is sealed. Nothing else could tell: a payload may be any text. */
const sealedMessages = (service: ServiceName): Migration => ({
  name: '0000_runtime_sealed_messages',
  sql: `alter table ${service}.set_aside_message add column sealed boolean not null default false`,
})

const runtimeTables = (service: ServiceName): Migration => ({
  name: '0000_runtime_tables',
  sql: `
create table ${service}.operation (
  operation_id text collate "C" primary key,
  name text not null,
  -- {"body": …} or {"error": …}; null on a tombstone. json, not jsonb: a replay answers the same bytes.
  reply json,
  abandoned boolean not null default false,
  created_at timestamptz not null
);
create index operation_created_at on ${service}.operation (created_at);
create table ${service}.outbox (
  id text collate "C" primary key,
  aggregate text collate "C" not null,
  aggregate_seq bigint not null,
  kind text not null check (kind in ('event', 'command')),
  name text not null,
  message json not null,
  operation_id text,
  created_at timestamptz not null,
  leased_until timestamptz,
  attempts integer not null default 0,
  done_at timestamptz,
  unique (aggregate, aggregate_seq)
);
create index outbox_unfinished on ${service}.outbox (created_at) where done_at is null;
create index outbox_unfinished_aggregate on ${service}.outbox (aggregate, aggregate_seq) where done_at is null;
create index outbox_unfinished_operation on ${service}.outbox (operation_id) where done_at is null and kind = 'command';
create index outbox_done_at on ${service}.outbox (done_at);
create table ${service}.inbox (
  consumer text not null,
  event_id text collate "C" not null,
  received_at timestamptz not null,
  primary key (consumer, event_id)
);
create index inbox_received_at on ${service}.inbox (received_at);
create table ${service}.set_aside_message (
  id bigint generated always as identity primary key,
  consumer text not null,
  subject text not null,
  payload text not null,
  fault text not null,
  set_aside_at timestamptz not null
);
create table ${service}.stream_seen (
  stream text primary key,
  created text not null
);
create table ${service}.audit_entry (
  id text collate "C" primary key,
  at timestamptz not null,
  actor text not null,
  operation text not null,
  operation_id text not null,
  subject text,
  reason text,
  input json not null
);
create index audit_entry_at on ${service}.audit_entry (at desc);
create function ${service}.refuse_change() returns trigger language plpgsql as $$
begin raise exception 'append-only: % on %.%', tg_op, tg_table_schema, tg_table_name; end $$;
create trigger append_only before update or delete on ${service}.audit_entry for each row execute function ${service}.refuse_change();
create trigger append_only_truncate before truncate on ${service}.audit_entry execute function ${service}.refuse_change();
revoke update, delete on ${service}.audit_entry from ${roleName(service)};
`,
})
