import type { Migration } from '@backoffice/service-runtime'

/** The queue may be read by amount: an order of its own, so that a page is found without sorting all that waits. */
export const queueByAmount: Migration = {
  name: '0003_queue_by_amount',
  transactional: false,
  sql: `
create index concurrently withdrawal_queue_by_amount on payments.withdrawal (environment, status, amount, id)
  where status in ('under_review', 'approved')
`,
}
