import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team lists an operator's withdrawals, newest first. */
export const withdrawalsOfOperator: Migration = {
  name: '0014_withdrawals_of_operator',
  transactional: false,
  sql: 'create index concurrently withdrawal_of_operator on payments.withdrawal (operator_id, environment, id)',
}
