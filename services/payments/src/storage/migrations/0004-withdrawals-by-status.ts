import type { Migration } from '@backoffice/service-runtime'

/** The team lists withdrawals of all operators by a status that few have: those that were paid are not read for them. */
export const withdrawalsByStatus: Migration = {
  name: '0004_withdrawals_by_status',
  transactional: false,
  sql: `
create index concurrently withdrawal_by_status on payments.withdrawal (environment, status, id)
  where version > 0 and status <> 'paid'
`,
}
