import type { Environment, ServiceName } from '@backoffice/contracts'
import type { ReadDb } from '../database/db.ts'
import { type Measurement, measurement } from '../telemetry/metrics.ts'
import type { OutboxKind } from './rows.ts'

const kinds: readonly OutboxKind[] = ['command', 'event']
const environments: readonly Environment[] = ['production', 'sandbox']

/** What waits in a service's outbox, and for how long, in each environment. */
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
      const rows = await db<{ kind: string; environment: string; waiting: bigint; oldest: number }>`
        select kind, environment, count(*) as waiting,
          -- What is of the future was written by other means, and is as old as it is far away.
          max(abs(extract(epoch from clock_timestamp()) - extract(epoch from created_at)))::double precision as oldest
        from outbox group by 1, 2
      `
      const found = new Map(rows.map((row) => [`${row.kind} ${row.environment}`, row]))
      const observe = (value: (row: (typeof rows)[number] | undefined) => number) =>
        kinds.flatMap((kind) =>
          environments.map((environment) => ({
            value: value(found.get(`${kind} ${environment}`)),
            attributes: { service, kind, environment },
          })),
        )
      return {
        'backoffice.outbox.oldest_unsent_seconds': observe((row) => row?.oldest ?? 0),
        'backoffice.outbox.unsent_rows': observe((row) => Number(row?.waiting ?? 0)),
      }
    },
  })
}
