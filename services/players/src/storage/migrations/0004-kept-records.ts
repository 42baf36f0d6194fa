import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * Players and their submissions are never deleted, and a player stays with its brand and currency. What was submitted is
 * not edited. Name, e-mail and CPF can still be overwritten, and a reference to a document be replaced by `anonymised`,
 * since the law may ask for that.
 */
export const keptRecords: Migration = {
  name: '0004_kept_records',
  sql: `
create trigger keep_records before delete on players.player for each row execute function players.refuse_change();
create trigger keep_records before delete on players.kyc_submission for each row execute function players.refuse_change();
create trigger keep_records_truncate before truncate on players.player execute function players.refuse_change();
create trigger keep_records_truncate before truncate on players.kyc_submission execute function players.refuse_change();
create function players.refuse_edit() returns trigger language plpgsql as $$
begin raise exception 'kept as it was written: % on %.%', tg_op, tg_table_schema, tg_table_name; end $$;
create trigger keep_identity before update on players.player for each row
  when ((new.id, new.operator_id, new.brand_id, new.environment, new.currency, new.created_at)
    is distinct from (old.id, old.operator_id, old.brand_id, old.environment, old.currency, old.created_at))
  execute function players.refuse_edit();
create trigger keep_submission before update on players.kyc_submission for each row
  when (new.reference <> 'anonymised' or (new.id, new.player_id, new.document_type, new.submitted_at)
    is distinct from (old.id, old.player_id, old.document_type, old.submitted_at))
  execute function players.refuse_edit();
revoke delete on players.player from backoffice_players;
revoke update, delete on players.kyc_submission from backoffice_players;
grant update (reference) on players.kyc_submission to backoffice_players;
`,
}
