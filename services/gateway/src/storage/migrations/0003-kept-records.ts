import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * Operators, brands and keys are never deleted, and stay who they are: everything else refers to them. The conditions of
 * the triggers cost nothing where nothing of it changes.
 */
export const keptRecords: Migration = {
  name: '0003_kept_records',
  sql: `
create trigger keep_records before delete on gateway.operator for each row execute function gateway.refuse_change();
create trigger keep_records before delete on gateway.brand for each row execute function gateway.refuse_change();
create trigger keep_records before delete on gateway.credential for each row execute function gateway.refuse_change();
create trigger keep_records_truncate before truncate on gateway.operator execute function gateway.refuse_change();
create trigger keep_records_truncate before truncate on gateway.brand execute function gateway.refuse_change();
create trigger keep_records_truncate before truncate on gateway.credential execute function gateway.refuse_change();
create function gateway.refuse_edit() returns trigger language plpgsql as $$
begin raise exception 'kept as it was written: % on %.%', tg_op, tg_table_schema, tg_table_name; end $$;
create trigger keep_identity before update on gateway.operator for each row
  when ((new.id, new.created_at) is distinct from (old.id, old.created_at))
  execute function gateway.refuse_edit();
create trigger keep_identity before update on gateway.brand for each row
  when ((new.id, new.operator_id, new.environment, new.currency)
    is distinct from (old.id, old.operator_id, old.environment, old.currency))
  execute function gateway.refuse_edit();
-- A key that was revoked stays so.
create trigger keep_identity before update on gateway.credential for each row
  when ((new.id, new.brand_id, new.key, new.created_at) is distinct from (old.id, old.brand_id, old.key, old.created_at)
    or (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at))
  execute function gateway.refuse_edit();
revoke delete on gateway.operator, gateway.brand, gateway.credential from backoffice_gateway;
`,
}
