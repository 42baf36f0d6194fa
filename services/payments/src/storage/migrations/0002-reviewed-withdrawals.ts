import type { Migration } from '@backoffice/service-runtime'

/**
 * How long decisions took is read by day. A withdrawal enters the index when somebody decides about it, so what operators
 * send writes nothing into it.
 */
export const reviewedWithdrawals: Migration = {
  name: '0002_reviewed_withdrawals',
  transactional: false,
  sql: `create index concurrently withdrawal_reviewed on payments.withdrawal (environment, reviewed_at) include (created_at)
    where reviewed_at is not null`,
}
