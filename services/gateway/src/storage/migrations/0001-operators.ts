import type { Migration } from '@backoffice/service-runtime/migrations'

export const operatorTables: Migration = {
  name: '0001_operators',
  sql: `
create table gateway.operator (
  id text collate "C" primary key,
  name text not null unique,
  rate_limit_per_minute integer not null check (rate_limit_per_minute > 0),
  allowed_addresses text[] not null,
  suspended_at timestamptz,
  created_at timestamptz not null
);
create table gateway.brand (
  id text collate "C" primary key,
  operator_id text collate "C" not null references gateway.operator,
  environment text not null check (environment in ('sandbox', 'production')),
  name text not null,
  currency char(3) not null,
  time_zone text not null,
  unique (operator_id, environment)
);
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
`,
}
