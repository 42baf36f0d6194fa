import type { Migration } from '@backoffice/service-runtime/migrations'

/** The review queue of one environment: what waits in the sandbox, for ever perhaps, is not read for that of production. */
export const queueOfEnvironment: Migration = {
  name: '0012_queue_of_environment',
  transactional: false,
  sql: `create index concurrently withdrawal_queue_of_environment on payments.withdrawal (environment, status, id)
    where status in ('under_review', 'approved')`,
}
