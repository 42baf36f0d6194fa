import { brandTable, type Migration } from '@backoffice/service-runtime'
import { shownToReconciler } from '@backoffice/team-access/migrations'

/** Endpoints with their secrets, and the deliveries of events to them. */
export const baseline: Migration = {
  name: '0001_baseline',
  sql: `
${brandTable('webhooks')}
create table webhooks.endpoint (
  -- <operator id>/<environment>
  id text collate "C" primary key,
  operator_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  url text,
  enabled boolean not null default true,
  disabled_at timestamptz,
  disabled_reason text,
  breaker_state text not null default 'closed' check (breaker_state in ('closed', 'open', 'recovering')),
  consecutive_failures integer not null default 0,
  failing_since timestamptz,
  open_until timestamptz,
  openings integer not null default 0,
  -- Deliveries that may be under way at once; null is the service's own maximum.
  concurrency integer check (concurrency > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Why the latest attempt at its URL failed: of its deliveries, many may not have been tried since.
  last_fault_at timestamptz,
  -- Null where no response came.
  last_fault_status integer,
  last_fault text,
  unique (operator_id, environment)
);

create table webhooks.secret (
  id bigint generated always as identity primary key,
  endpoint_id text collate "C" not null references webhooks.endpoint,
  -- Encrypted under a master key, bound to the endpoint's id.
  sealed text not null,
  created_at timestamptz not null,
  expires_at timestamptz
);
create index secret_endpoint on webhooks.secret (endpoint_id);
-- The current secret is one: of two rotations at once the second waits.
create unique index secret_current on webhooks.secret (endpoint_id) where expires_at is null;
create index secret_expires_at on webhooks.secret (expires_at);

create table webhooks.delivery (
  id text collate "C" primary key,
  endpoint_id text collate "C" not null references webhooks.endpoint,
  event_id text collate "C" not null,
  type text not null,
  brand_id text collate "C" not null,
  -- The very bytes that are signed and sent, the same at every attempt.
  body bytea not null,
  -- W3C trace context of the request behind the event; null where nothing was traced.
  trace_parent text,
  state text not null check (state in ('pending', 'delivered', 'failed', 'withheld')),
  -- Since the delivery was last scheduled: a resend begins with eight attempts again.
  attempts_made integer not null default 0,
  -- All that have ended.
  attempts_total integer not null default 0,
  event_created_at timestamptz not null,
  received_at timestamptz not null,
  next_attempt_at timestamptz,
  last_response_status integer,
  last_error text,
  finished_at timestamptz,
  unique (endpoint_id, event_id),
  check ((state = 'pending') = (next_attempt_at is not null)),
  check ((state = 'pending') = (finished_at is null))
-- Of each delivery one row is left dead, and in the end the other is purged: vacuum comes after a fiftieth of the table
-- instead of a fifth.
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
-- One end of these serves the oldest due, the other the newest.
create index delivery_due on webhooks.delivery (endpoint_id, next_attempt_at) where state = 'pending';
create index delivery_newest on webhooks.delivery (endpoint_id, received_at) where state = 'pending';
-- The few that homologation asks for: tests, and those that took more than one attempt.
create index delivery_proving on webhooks.delivery (endpoint_id, received_at)
  where state = 'delivered' and (type = 'webhook.test' or attempts_total > 1);
create index delivery_received_at on webhooks.delivery (endpoint_id, received_at);
create index delivery_finished_at on webhooks.delivery (finished_at) where finished_at is not null;
-- The team looks for what failed or was withheld. Those are few among all that was delivered.
create index delivery_unsent on webhooks.delivery (endpoint_id, state, received_at) where state in ('failed', 'withheld');
-- Whether each published event has a delivery is looked at once. So a delivery cannot be deleted before it has ended and is
-- two days old, which is less than any retention.
create trigger kept before delete on webhooks.delivery for each row
  when (old.finished_at is null or old.finished_at > now() - interval '2 days') execute function webhooks.refuse_change();

-- Who sends a delivery now, until when: a row for a time, so a lost process holds nothing for long. A table of its own,
-- because a change of the delivery would write its body and its index entries once more. Without foreign keys, which would
-- lock the delivery: one that is pending is not deleted.
create table webhooks.lease (
  endpoint_id text collate "C" not null,
  delivery_id text collate "C" not null,
  lease_id text not null,
  -- Of the attempt.
  number integer not null,
  url text not null,
  leased_at timestamptz not null,
  leased_until timestamptz not null,
  primary key (endpoint_id, delivery_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);

create table webhooks.attempt (
  delivery_id text collate "C" not null references webhooks.delivery on delete cascade,
  number integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  url text not null,
  response_status integer,
  response_head text,
  -- Sealed; null where response_head is clear. A column of its own, because a receiver may reply with any text.
  sealed_response_head text,
  error text,
  primary key (delivery_id, number)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

-- Up to where the events of a service were looked at, in the order in which they were published.
create table webhooks.judged_event (
  service text primary key,
  published_at timestamptz not null,
  event_id text collate "C" not null
);
create table webhooks.missing_delivery (
  event_id text collate "C" primary key,
  service text not null,
  published_at timestamptz not null,
  found_at timestamptz not null
);
create index missing_delivery_found_at on webhooks.missing_delivery (found_at);

-- Reconciliation holds where deliveries go against what people signed.
grant usage on schema webhooks to backoffice_reconciler;
${shownToReconciler('webhooks', {
  reconcilable_endpoint: `
  select id, operator_id, environment, url from webhooks.endpoint`,
  reconcilable_setting: `
  select * from webhooks.audit_evidence where operation = 'setWebhookUrl'`,
})}
`,
}
