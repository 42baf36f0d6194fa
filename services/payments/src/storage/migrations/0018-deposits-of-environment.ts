import type { Migration } from '@backoffice/service-runtime/migrations'

/** The team lists the deposits of an environment, newest first. No index names what a confirmation changes. */
export const depositsOfEnvironment: Migration = {
  name: '0018_deposits_of_environment',
  transactional: false,
  sql: 'create index concurrently deposit_of_environment on payments.deposit (environment, created_at)',
}
