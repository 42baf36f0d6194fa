import type { ServiceName } from '@backoffice/contracts'
import type { MikroORM } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { Sql } from '../commands/handlers.ts'
import { gauges } from '../telemetry/metrics.ts'
import type { OutboxRow } from './row.ts'

const lanes: readonly OutboxRow['kind'][] = ['command', 'event']

/** Measures what waits in a service's outbox. Answers how to stop. */
export function measureOutbox(orm: MikroORM, service: ServiceName): () => void {
  return gauges(
    {
      'backoffice.outbox.oldest_seconds': {
        description: 'Age of the oldest outbox row that was not sent yet',
        unit: 's',
      },
      'backoffice.outbox.waiting': { description: 'Outbox rows that were not sent yet' },
    },
    async () => {
      const { rows } = await sql<{ kind: string; waiting: string; oldest: number }>`
        select kind, count(*) as waiting,
          greatest(0, extract(epoch from clock_timestamp() - min(created_at)))::double precision as oldest
        from outbox where done_at is null group by kind
      `.execute(orm.em.fork().getKysely() as Sql)
      const found = new Map(rows.map((row) => [row.kind, row]))
      const observe = (value: (row: (typeof rows)[number] | undefined) => number) =>
        lanes.map((lane) => ({ value: value(found.get(lane)), attributes: { service, lane } }))
      return {
        'backoffice.outbox.oldest_seconds': observe((row) => row?.oldest ?? 0),
        'backoffice.outbox.waiting': observe((row) => Number(row?.waiting ?? 0)),
      }
    },
  )
}
