import type { Migration } from '@backoffice/service-runtime/migrations'

export const requestTables: Migration = {
  name: '0002_requests',
  sql: `
create table gateway.claim (
  operator_id text collate "C" not null,
  environment text not null,
  key text collate "C" not null,
  -- SHA-256 over method, path as sent and the body's SHA-256.
  fingerprint bytea not null,
  operation text not null,
  operation_id text not null,
  -- Names the attempt that runs now: only it may store a reply.
  token uuid not null,
  leased_until timestamptz,
  expires_at timestamptz not null,
  -- The reply as it was sent; null until the outcome is known.
  status smallint,
  content_type text,
  body bytea,
  request_id text,
  primary key (operator_id, environment, key)
);
create index claim_expires_at on gateway.claim (expires_at);
-- One row per operator and environment: how much of the current minute's budget the replicas have taken.
create table gateway.rate_window (
  operator_id text collate "C" not null,
  environment text not null,
  started_at timestamptz not null,
  granted integer not null,
  last_grant integer not null,
  primary key (operator_id, environment)
) with (fillfactor = 50);
`,
}
