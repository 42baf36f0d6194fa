import { changed, type Migration } from '@backoffice/service-runtime'

/** A bank takes each number of an agreement once: of two files of one number it refuses the second, or mistakes it for the first. */
export const batchNumbers: Migration = {
  name: '0005_batch_numbers',
  sql: `
alter table payments.payment_file add column agreement text collate "C";
create or replace trigger keep_file before update on payments.payment_file for each row
  when (old.discarded_at is not null or ${changed('id', 'environment', 'withdrawal_ids', 'batch_number', 'agreement', 'made_by', 'made_by_id', 'made_at', 'operation_id')})
  execute function payments.refuse_edit();
-- That of a discarded file is free: a bank that never had it waits for this number, and one that had it refuses the next.
create unique index payment_file_number on payments.payment_file (environment, agreement, batch_number)
  where agreement is not null and batch_number is not null and discarded_at is null;
`,
}
