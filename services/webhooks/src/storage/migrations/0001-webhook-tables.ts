import type { Migration } from '@backoffice/service-runtime/migrations'

export const webhookTables: Migration = {
  name: '0001_webhook_tables',
  sql: `
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
  state text not null check (state in ('pending', 'delivered', 'failed', 'withheld')),
  -- Since the delivery was last scheduled: a resend begins with eight attempts again.
  attempts_made integer not null default 0,
  attempts_total integer not null default 0,
  event_created_at timestamptz not null,
  received_at timestamptz not null,
  next_attempt_at timestamptz,
  -- Who sends it now, until when: a lease in columns, so a lost process holds nothing for long.
  lease_id text,
  leased_at timestamptz,
  leased_until timestamptz,
  leased_url text,
  last_response_status integer,
  last_error text,
  finished_at timestamptz,
  unique (endpoint_id, event_id),
  check ((state = 'pending') = (next_attempt_at is not null)),
  check ((state = 'pending') = (finished_at is null))
);
create index delivery_event on webhooks.delivery (event_id);
-- One end of these serves the oldest due, the other the newest.
create index delivery_due on webhooks.delivery (endpoint_id, next_attempt_at) where state = 'pending';
create index delivery_newest on webhooks.delivery (endpoint_id, received_at) where state = 'pending';
create index delivery_leased on webhooks.delivery (endpoint_id) where leased_until is not null;
create index delivery_by_endpoint on webhooks.delivery (endpoint_id, id);
create index delivery_received_at on webhooks.delivery (endpoint_id, received_at);
create index delivery_finished_at on webhooks.delivery (finished_at);

create table webhooks.attempt (
  delivery_id text collate "C" not null references webhooks.delivery on delete cascade,
  number integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  url text not null,
  response_status integer,
  response_head text,
  error text,
  primary key (delivery_id, number)
);
`,
}
