import type { Migration } from '@backoffice/service-runtime'

/** What was refused or failed, so that a request id leads somewhere. */
export const refusedRequests: Migration = {
  name: '0005_refused_requests',
  sql: `
-- Never a body, a query, a signature or a secret. Ids of requests are in the order of time.
create table gateway.refused_request (
  request_id text collate "C" primary key,
  at timestamptz not null,
  -- Empty: no key that exists was sent.
  operator_id text collate "C" not null,
  environment text not null,
  key text collate "C",
  verified boolean not null,
  operation text,
  method text not null,
  path text not null,
  status smallint not null,
  code text not null,
  fields text,
  canonical_string text,
  hint text,
  duration_ms integer not null
);
create index refused_request_of_operator on gateway.refused_request (operator_id, environment, request_id);
create index refused_request_at on gateway.refused_request (at);

-- How many there were on a day of UTC, kept or not: a row per operator, environment and whether the signature was right.
create table gateway.refused_today (
  operator_id text collate "C" not null,
  environment text not null,
  verified boolean not null,
  day date not null,
  refused bigint not null,
  primary key (operator_id, environment, verified)
) with (fillfactor = 50);
`,
}
