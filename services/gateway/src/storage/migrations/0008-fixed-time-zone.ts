import type { Migration } from '@backoffice/service-runtime/migrations'

/** The time zone stays with a brand as its currency does: the other services keep both. */
export const fixedTimeZone: Migration = {
  name: '0008_fixed_time_zone',
  sql: `
create trigger keep_time_zone before update on gateway.brand for each row
  when (new.time_zone is distinct from old.time_zone)
  execute function gateway.refuse_edit();
`,
}
