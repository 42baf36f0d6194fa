import { changed, type Migration, neverDeleted } from '@backoffice/service-runtime'

/**
 * What each file for the bank contains, and in which one a withdrawal was last. It leaves that one for another only when that
 * one is discarded, whatever a process believes.
 */
export const paymentFiles: Migration = {
  name: '0004_payment_files',
  sql: `
create table payments.payment_file (
  id text collate "C" primary key,
  environment text not null check (environment in ('sandbox', 'production')),
  -- In the order of its lines.
  withdrawal_ids text[] collate "C" not null,
  -- Of a batch of Pix transfers, and of what agreement with the bank. Null: it is a CSV file.
  batch_number integer,
  agreement text collate "C",
  made_by text not null,
  made_by_id text not null,
  made_at timestamptz not null,
  operation_id text collate "C" not null,
  discarded_by text,
  discarded_by_id text,
  discarded_at timestamptz,
  discard_reason text,
  check (num_nulls(discarded_by, discarded_by_id, discarded_at, discard_reason) in (0, 4))
);
${neverDeleted('payments.payment_file')}
-- A bank takes each number of an agreement once: of two files of one number it refuses the second, or mistakes it for the
-- first. That of a discarded file is free: a bank that never had it waits for this number, and one that had it refuses it.
create unique index payment_file_number on payments.payment_file (environment, agreement, batch_number)
  where agreement is not null and batch_number is not null and discarded_at is null;
create trigger keep_file before update on payments.payment_file for each row
  when (old.discarded_at is not null or ${changed('id', 'environment', 'withdrawal_ids', 'batch_number', 'agreement', 'made_by', 'made_by_id', 'made_at', 'operation_id')})
  execute function payments.refuse_edit();
alter table payments.withdrawal add column payment_file text collate "C";
create function payments.keep_in_file() returns trigger language plpgsql as $$
begin
  if exists (select from payments.payment_file where id = old.payment_file and discarded_at is null) then
    raise exception 'withdrawal % is in file %', old.id, old.payment_file;
  end if;
  return new;
end $$;
create trigger keep_in_file before update on payments.withdrawal for each row
  when (old.payment_file is not null and ${changed('payment_file')}) execute function payments.keep_in_file();
`,
}
