import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * Whether each published event has a delivery is looked at once. So a delivery cannot be deleted before it has ended and
 * is two days old, which is less than any retention.
 */
export const judgedEvents: Migration = {
  name: '0009_judged_events',
  sql: `
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
create trigger kept before delete on webhooks.delivery for each row
  when (old.finished_at is null or old.finished_at > now() - interval '2 days') execute function webhooks.refuse_change();
`,
}
