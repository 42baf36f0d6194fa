import type { Migration } from '@backoffice/service-runtime'

/** What the sandbox traffic of operators has proved. */
export const homologation: Migration = {
  name: '0004_homologation',
  sql: `
create table gateway.homologation_proof (
  operator_id text collate "C" not null,
  item text collate "C" not null,
  first_at timestamptz not null,
  -- Of that time: a request, a delivery.
  proof text not null,
  last_at timestamptz not null,
  primary key (operator_id, item)
);

-- The latest window of an operator in which sandbox requests were refused with RATE_LIMITED, by any replica.
create table gateway.rate_refusal (
  operator_id text collate "C" primary key,
  -- When the window ended, and so what Retry-After said.
  until timestamptz not null,
  first_at timestamptz not null,
  last_at timestamptz not null
);
`,
}
