import type { Migration } from '@backoffice/service-runtime/migrations'

/** Whether a withdrawal is the first, and where the others went, is read without those that came to nothing. */
export const paidWithdrawalsOfPlayer: Migration = {
  name: '0016_paid_withdrawals_of_player',
  transactional: false,
  sql: `create index concurrently withdrawal_paid_of_player on payments.withdrawal (player_id, paid_at)
    where paid_at is not null`,
}
