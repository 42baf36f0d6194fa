import type { ServiceName } from '@backoffice/contracts'
import type { ReadDb } from '../database/db.ts'
import { type Measurement, measurement } from '../telemetry/metrics.ts'
import type { OutboxKind } from './rows.ts'

const kinds: readonly OutboxKind[] = ['command', 'event']

/** What waits in a service's outbox, and for how long. */
export function outboxBacklog(db: ReadDb, service: ServiceName): Measurement {
  return measurement({
    gauges: {
      'backoffice.outbox.oldest_unsent_seconds': {
        description: 'Age of the oldest outbox row that is not sent yet',
        unit: 's',
      },
      'backoffice.outbox.unsent_rows': { description: 'Outbox rows that are not sent yet' },
    },
    async read() {
      const rows = await db<{ kind: string; waiting: bigint; oldest: number }>`
        select kind, count(*) as waiting,
          greatest(0, extract(epoch from clock_timestamp() - min(created_at)))::double precision as oldest
        from outbox where done_at is null group by kind
      `
      const found = new Map(rows.map((row) => [row.kind, row]))
      const observe = (value: (row: (typeof rows)[number] | undefined) => number) =>
        kinds.map((kind) => ({ value: value(found.get(kind)), attributes: { service, kind } }))
      return {
        'backoffice.outbox.oldest_unsent_seconds': observe((row) => row?.oldest ?? 0),
        'backoffice.outbox.unsent_rows': observe((row) => Number(row?.waiting ?? 0)),
      }
    },
  })
}
