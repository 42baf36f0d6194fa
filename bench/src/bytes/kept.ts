/** How long the rows of tables are kept in production, by default. A table that is not named is kept for ever. */
const hours: Readonly<Record<string, number>> = {
  'payments.outbox': 0,
  'players.outbox': 0,
  'wallet.outbox': 0,
  // Three days, and as a whole day is dropped at once, up to a day more.
  'payments.published_event': 4 * 24,
  'players.published_event': 4 * 24,
  'webhooks.inbox': 18 * 24,
  'payments.operation': 3 * 24,
  'players.operation': 3 * 24,
  'gateway.claim': 24,
  'webhooks.delivery': 9 * 24,
  'webhooks.attempt': 9 * 24,
}

export const keptHours = (table: string): number | undefined => hours[table]
