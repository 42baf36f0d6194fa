import { type Measurement, measurement, type ReadDb } from '@backoffice/service-runtime'

/** How long the oldest money operation has been under way: an intent, or a command that the wallet has not done. */
export function oldestUnfinished(db: ReadDb): Measurement {
  return measurement({
    gauges: {
      'backoffice.money_operations.oldest_unfinished_seconds': {
        description: 'Age of the oldest money operation that is not finished: an intent, or a command for the wallet',
        unit: 's',
      },
    },
    async read() {
      const rows = await db<{ oldest: number }>`
        select greatest(0, coalesce(extract(epoch from clock_timestamp() - least(
          (select min(created_at) from withdrawal where status = 'intent'),
          (select min(created_at) from outbox where kind = 'command' and done_at is null)
        )), 0))::double precision as oldest
      `
      return { 'backoffice.money_operations.oldest_unfinished_seconds': [{ value: rows[0]?.oldest ?? 0 }] }
    },
  })
}
