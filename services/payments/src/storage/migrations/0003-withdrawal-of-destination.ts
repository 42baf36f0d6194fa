import type { Migration } from '@backoffice/service-runtime'

/** The players of a brand who are paid to one destination, each found without the other withdrawals. */
export const withdrawalOfDestination: Migration = {
  name: '0003_withdrawal_of_destination',
  sql: `
create index concurrently withdrawal_of_destination on payments.withdrawal (brand_id, destination_digest, player_id)
  where destination_digest is not null and version > 0
`,
  transactional: false,
}
