import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * Where a withdrawal is paid to, sealed. Null: it is in the column of its own. Else that is empty. A destination may be
 * sealed, and sealed again under another key, which takes the key. It never becomes readable again, so nobody who can only
 * write to the table can have a withdrawal paid to another place.
 */
export const sealedDestination: Migration = {
  name: '0005_sealed_destination',
  sql: `
alter table payments.withdrawal add column sealed_destination text;
create or replace trigger keep_destination before update on payments.withdrawal for each row
  when ((new.destination, new.sealed_destination) is distinct from (old.destination, old.sealed_destination)
    and not (new.destination = '' and new.sealed_destination is not null)
    and not (new.destination = 'anonymised' and new.sealed_destination is null
      and old.status not in ('intent', 'under_review', 'approved')))
  execute function payments.refuse_edit();
`,
}
