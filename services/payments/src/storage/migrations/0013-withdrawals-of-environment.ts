import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team lists the withdrawals of an environment, newest first. */
export const withdrawalsOfEnvironment: Migration = {
  name: '0013_withdrawals_of_environment',
  transactional: false,
  sql: 'create index concurrently withdrawal_of_environment on payments.withdrawal (environment, id)',
}
