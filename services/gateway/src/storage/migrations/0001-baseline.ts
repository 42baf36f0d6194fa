import { changed, type Migration, neverDeleted } from '@backoffice/service-runtime'
import { shownToReconciler } from '@backoffice/team-access/migrations'

/** Operators with their brands and keys, and what a request leaves: its claim of a key, its signature, its part of a minute. */
export const baseline: Migration = {
  name: '0001_baseline',
  sql: `
-- Operators, brands and keys are never deleted, and stay who they are: everything else refers to them.
create table gateway.operator (
  id text collate "C" primary key,
  name text not null unique,
  rate_limit_per_minute integer not null check (rate_limit_per_minute > 0),
  allowed_addresses text[] not null,
  replay_protection boolean not null default false,
  suspended_at timestamptz,
  created_at timestamptz not null
);
${neverDeleted('gateway.operator')}
create trigger keep_identity before update on gateway.operator for each row
  when (${changed('id', 'created_at')}) execute function gateway.refuse_edit();

create table gateway.brand (
  id text collate "C" primary key,
  operator_id text collate "C" not null references gateway.operator,
  environment text not null check (environment in ('sandbox', 'production')),
  name text not null,
  currency char(3) not null,
  time_zone text not null,
  unique (operator_id, environment)
);
${neverDeleted('gateway.brand')}
-- The other services keep the currency and the time zone too.
create trigger keep_identity before update on gateway.brand for each row
  when (${changed('id', 'operator_id', 'environment', 'currency', 'time_zone')}) execute function gateway.refuse_edit();

create table gateway.credential (
  id text collate "C" primary key,
  brand_id text collate "C" not null references gateway.brand,
  key text collate "C" not null unique,
  -- Under AES-256-GCM with the id of its master key; the credential's id is authenticated with it.
  sealed_secret text not null,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index credential_brand on gateway.credential (brand_id);
${neverDeleted('gateway.credential')}
-- A key that was revoked stays so.
create trigger keep_identity before update on gateway.credential for each row
  when (${changed('id', 'brand_id', 'key', 'created_at')}
    or (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at))
  execute function gateway.refuse_edit();

-- When each key was last used. It stands apart from the keys, whose rows are locked where they are issued and revoked. A key
-- without a row was never used.
create table gateway.credential_use (
  credential_id text collate "C" primary key,
  last_used_at timestamptz not null
);

create table gateway.claim (
  operator_id text collate "C" not null,
  environment text not null,
  key text collate "C" not null,
  -- SHA-256 over method, path as sent and the body's SHA-256.
  fingerprint bytea not null,
  operation text not null,
  operation_id text not null,
  -- Names the attempt that runs now: only it may store a reply. Null with the reply: none runs any more.
  token uuid,
  leased_until timestamptz,
  expires_at timestamptz not null,
  -- The reply as it was sent; null until the outcome is known.
  status smallint,
  content_type text,
  body bytea,
  request_id text,
  primary key (operator_id, environment, key)
-- A claim is written twice: when its key is claimed, and when the reply is there, which is nearly twice as long as the rest.
-- With room on its page the second writing needs no new entries in the indexes, and takes the place of others' first.
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
create index claim_expires_at on gateway.claim (expires_at);

-- Signatures of operators with replay protection, for as long as they could be used again.
create table gateway.used_signature (
  operator_id text collate "C" not null,
  environment text not null,
  -- SHA-256 of X-Signature: who reads this table cannot send the request.
  signature_digest bytea not null,
  -- The only Idempotency-Key that it may be sent with; of a request without one, what names that request.
  key text collate "C" not null,
  expires_at timestamptz not null,
  primary key (operator_id, environment, signature_digest)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index used_signature_expires_at on gateway.used_signature (expires_at);

-- One row per operator and environment: how much of the current minute's budget the replicas have taken.
create table gateway.rate_window (
  operator_id text collate "C" not null,
  environment text not null,
  started_at timestamptz not null,
  granted integer not null,
  last_grant integer not null,
  primary key (operator_id, environment)
) with (fillfactor = 50);

-- Reconciliation holds what the team has set against what people signed, and sees no secret.
grant usage on schema gateway to backoffice_reconciler;
${shownToReconciler('gateway', {
  reconcilable_operator: `
  select id, name, rate_limit_per_minute, allowed_addresses, replay_protection, suspended_at is not null as suspended
  from gateway.operator`,
  reconcilable_credential: `
  select c.id, c.key, c.created_at, c.revoked_at, b.id as brand_id, b.operator_id, b.environment
  from gateway.credential c join gateway.brand b on b.id = c.brand_id`,
  reconcilable_setting: `
  select * from gateway.audit_evidence where operation in ('createOperator', 'issueCredential', 'revokeCredential',
    'setOperatorLimits', 'setReplayProtection', 'suspendOperator', 'activateOperator')`,
})}
`,
}
