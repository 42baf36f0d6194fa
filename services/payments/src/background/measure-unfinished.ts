import { type Background, gauges, type ServiceContext, sqlOf } from '@backoffice/service-runtime'
import { sql } from 'kysely'

/** Measures how long the oldest money operation has been under way: an intent, or a command of which the wallet has not heard. */
export function startMeasuringUnfinished({ orm }: ServiceContext): Background {
  const stop = gauges(
    {
      'backoffice.withdrawal_intents.oldest_seconds': {
        description: 'Age of the oldest money operation that is not finished',
        unit: 's',
      },
    },
    async () => {
      const { rows } = await sql<{ oldest: number }>`
        select greatest(0, coalesce(extract(epoch from clock_timestamp() - least(
          (select min(created_at) from withdrawal where status = 'intent'),
          (select min(created_at) from outbox where kind = 'command' and done_at is null)
        )), 0))::double precision as oldest
      `.execute(sqlOf(orm.em.fork()))
      return { 'backoffice.withdrawal_intents.oldest_seconds': [{ value: rows[0]?.oldest ?? 0 }] }
    },
  )
  return { stop: async () => stop() }
}
