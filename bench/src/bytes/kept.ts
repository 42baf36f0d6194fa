/**
 * How long the rows of tables are kept in production, by default. A table that is not named is kept for ever.
 */
const hours: Readonly<Record<string, number>> = {
  'payments.outbox': 14 * 24,
  'players.outbox': 14 * 24,
  'wallet.outbox': 14 * 24,
  'webhooks.inbox': 28 * 24,
  'payments.operation': 3 * 24,
  'players.operation': 3 * 24,
  'gateway.claim': 2 * 24,
  'webhooks.delivery': 14 * 24,
  'webhooks.attempt': 14 * 24,
}

export const keptHours = (table: string): number | undefined => hours[table]
