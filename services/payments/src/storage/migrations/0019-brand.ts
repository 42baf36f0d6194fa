import { brandTable, type Migration } from '@backoffice/service-runtime/migrations'

/** The sandbox's way to decide, without a person, is for brands of the sandbox. */
export const brand: Migration = {
  name: '0019_brand',
  sql: `
${brandTable('payments')}
create function payments.refuse_outside_sandbox() returns trigger language plpgsql as $$
begin
  if not exists (
    select from payments.withdrawal w join payments.brand b on b.id = w.brand_id
    where w.id = new.record_id and b.environment = 'sandbox'
  ) then
    raise exception 'only in the sandbox: %', new.record_id;
  end if;
  return new;
end $$;
create trigger only_in_sandbox before insert on payments.status_transition for each row
  when (new.by_kind = 'sandbox') execute function payments.refuse_outside_sandbox();
`,
}
