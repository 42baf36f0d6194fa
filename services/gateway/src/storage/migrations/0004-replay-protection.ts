import type { Migration } from '@backoffice/service-runtime/migrations'

export const replayProtection: Migration = {
  name: '0004_replay_protection',
  sql: `
alter table gateway.operator add column replay_protection boolean not null default false;
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
);
create index used_signature_expires_at on gateway.used_signature (expires_at);
`,
}
