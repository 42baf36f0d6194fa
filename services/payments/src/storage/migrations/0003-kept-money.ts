import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * How much, of whom and to where is written once, and so is who approved. Their statuses change: reconciliation holds
 * these against the ledger and the history. A destination can be replaced by `anonymised` when nothing is
 * paid to it any more, since the law may ask for that.
 */
export const keptMoney: Migration = {
  name: '0003_kept_money',
  sql: `
create function payments.refuse_edit() returns trigger language plpgsql as $$
begin raise exception 'kept as it was written: % on %.%', tg_op, tg_table_schema, tg_table_name; end $$;
create trigger keep_money before update on payments.deposit for each row
  when ((new.id, new.brand_id, new.operator_id, new.environment, new.player_id, new.external_reference, new.amount,
      new.currency, new.method)
    is distinct from (old.id, old.brand_id, old.operator_id, old.environment, old.player_id, old.external_reference,
      old.amount, old.currency, old.method))
  execute function payments.refuse_edit();
create trigger keep_money before update on payments.withdrawal for each row
  when ((new.id, new.operation_id, new.brand_id, new.operator_id, new.environment, new.player_id, new.amount,
      new.currency, new.method)
    is distinct from (old.id, old.operation_id, old.brand_id, old.operator_id, old.environment, old.player_id, old.amount,
      old.currency, old.method)
    or (old.approved_by is not null and new.approved_by is distinct from old.approved_by))
  execute function payments.refuse_edit();
create trigger keep_destination before update on payments.withdrawal for each row
  when (new.destination is distinct from old.destination
    and not (new.destination = 'anonymised' and old.status not in ('intent', 'under_review', 'approved')))
  execute function payments.refuse_edit();
create trigger keep_records_truncate before truncate on payments.deposit execute function payments.refuse_change();
create trigger keep_records_truncate before truncate on payments.withdrawal execute function payments.refuse_change();
`,
}
