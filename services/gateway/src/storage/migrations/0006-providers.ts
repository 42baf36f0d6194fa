import { changed, type Migration, neverDeleted } from '@backoffice/service-runtime'
import { shownToReconciler } from '@backoffice/team-access/migrations'

/** Providers of games, their keys and the brands that they were granted. */
export const providers: Migration = {
  name: '0006_providers',
  sql: `
-- Providers, keys and grants are never deleted, and stay who they are.
create table gateway.provider (
  id text collate "C" primary key,
  name text not null unique,
  stakes_per_minute integer not null check (stakes_per_minute > 0),
  others_per_minute integer not null check (others_per_minute > 0),
  allowed_addresses text[] not null,
  suspended_at timestamptz,
  created_at timestamptz not null
);
${neverDeleted('gateway.provider')}
create trigger keep_identity before update on gateway.provider for each row
  when (${changed('id', 'created_at')}) execute function gateway.refuse_edit();

create table gateway.provider_key (
  id text collate "C" primary key,
  provider_id text collate "C" not null references gateway.provider,
  environment text not null check (environment in ('sandbox', 'production')),
  key text collate "C" not null unique,
  -- How the provider signs. A shared secret proves nothing to a third party, so another way may come.
  algorithm text not null default 'hmac-sha256' check (algorithm in ('hmac-sha256')),
  -- Under AES-256-GCM with the id of its master key; the id of the row is authenticated with it.
  sealed_secret text not null,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index provider_key_of_provider on gateway.provider_key (provider_id);
${neverDeleted('gateway.provider_key')}
create trigger keep_identity before update on gateway.provider_key for each row
  when (${changed('id', 'provider_id', 'environment', 'key', 'algorithm', 'created_at')}
    or (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at))
  execute function gateway.refuse_edit();

create table gateway.provider_brand (
  provider_id text collate "C" not null references gateway.provider,
  brand_id text collate "C" not null references gateway.brand,
  suspended_at timestamptz,
  granted_at timestamptz not null,
  primary key (provider_id, brand_id)
);
create index provider_brand_of_brand on gateway.provider_brand (brand_id);
${neverDeleted('gateway.provider_brand')}
create trigger keep_identity before update on gateway.provider_brand for each row
  when (${changed('provider_id', 'brand_id', 'granted_at')}) execute function gateway.refuse_edit();

-- A key's last use stands in gateway.credential_use, as those of operators. What providers send takes of gateway.rate_window under
-- the id of the provider, with 'stakes' or 'others' after the environment; what stakes of a day store stands in
-- gateway.daily_use under the id of the brand.

-- Reconciliation holds what is set here against the calls that people signed.
${shownToReconciler('gateway', {
  reconcilable_provider: `
  select id, name, stakes_per_minute, others_per_minute, allowed_addresses, suspended_at is not null as suspended
  from gateway.provider`,
  reconcilable_provider_key: `
  select id, provider_id, environment, key, created_at, revoked_at from gateway.provider_key`,
  reconcilable_provider_brand: `
  select g.provider_id || '/' || g.brand_id as id, g.provider_id, g.brand_id, b.environment, g.granted_at,
    g.suspended_at is not null as suspended
  from gateway.provider_brand g join gateway.brand b on b.id = g.brand_id`,
})}
create or replace view gateway.reconcilable_setting as
  select * from gateway.audit_evidence where operation in ('createOperator', 'issueCredential', 'revokeCredential',
    'setOperatorLimits', 'setReplayProtection', 'suspendOperator', 'activateOperator',
    'createProvider', 'setProviderGrant', 'setProviderLimits', 'suspendProvider', 'activateProvider', 'issueProviderKey',
    'revokeProviderKey');
`,
}
