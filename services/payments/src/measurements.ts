import { type Measurement, measurement } from '@backoffice/process'
import { outbox, type ReadDb } from '@backoffice/service-runtime'

/**
 * How long the oldest money operation of each environment has been under way: an intent, or a command that the wallet has
 * not done.
 */
export function oldestUnfinished(db: ReadDb): Measurement {
  return measurement({
    gauges: {
      'backoffice.money_operations.oldest_unfinished_seconds': {
        description: 'Age of the oldest money operation that is not finished: an intent, or a command for the wallet',
        unit: 's',
      },
    },
    async read() {
      const rows = await db<{ environment: string; oldest: number }>`
        -- What is of the future was written by other means, and is as old as it is far away.
        select environment, coalesce((
          select max(abs(extract(epoch from clock_timestamp()) - extract(epoch from waiting.created_at))) from (
            select created_at from withdrawal w where status = 'intent' and w.environment = e.environment
            union all
            select created_at from ${outbox.unfinishedCommands} c where c.environment = e.environment
          ) waiting
        ), 0)::double precision as oldest
        from unnest(array['production', 'sandbox']) as e (environment)
      `
      const ages = rows.map(({ environment, oldest }) => ({ value: oldest, attributes: { environment } }))
      return { 'backoffice.money_operations.oldest_unfinished_seconds': ages }
    },
  })
}
