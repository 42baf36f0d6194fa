import type { Migration } from '@backoffice/service-runtime'

/** How many events arrived in time, by hour: counted behind the deliveries, so that no attempt writes here. */
export const deliveryHours: Migration = {
  name: '0002_delivery_hours',
  sql: `
create table webhooks.delivery_hour (
  -- In which the events were published.
  hour timestamptz not null,
  endpoint_id text collate "C" not null,
  events integer not null,
  in_time integer not null,
  primary key (hour, endpoint_id)
);
-- Up to which delivery they are counted: one row.
create table webhooks.delivery_position (
  through text collate "C" not null
);
insert into webhooks.delivery_position select coalesce(max(id), '') from webhooks.delivery;
`,
}
