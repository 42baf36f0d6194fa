import type { Migration } from '@backoffice/service-runtime/migrations'

/**
 * A deposit is written twice. With room on its page the second writing needs no new entries in the indexes, and takes the
 * place of others' first. Rows that are there already stay as they are.
 */
export const depositsInPlace: Migration = {
  name: '0011_deposits_in_place',
  sql: 'alter table payments.deposit set (fillfactor = 92)',
}
