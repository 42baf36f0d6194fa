import type { Environment, ServiceName } from '@backoffice/contracts'
import { type Measurement, measurement } from '@backoffice/process'
import { type Fragment, type ReadDb, sql } from '../database/db.ts'
import type { OutboxKind } from './store.ts'

// What a service may ask about its own outbox. A row is there until it is done.

/**
 * Whether a command about a record is not done yet. It is looked up for one record after another: for `exists` PostgreSQL
 * may read all that is unfinished.
 * @param recordId a column, named with its table
 */
export const isUnfinished = (recordId: Fragment): Fragment =>
  sql`(select true from outbox where aggregate = ${recordId} and kind = 'command' limit 1) is not null`

/** The commands that are not done, as a table of a statement: `created_at` and `environment` of each. */
export const unfinishedCommands: Fragment = sql`(select created_at, environment from outbox where kind = 'command')`

/** The operations whose commands are not done yet, by the record that a command is about. */
export async function findUnfinished(db: ReadDb, recordIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (recordIds.length === 0) return new Map()
  const rows = await db<{ aggregate: string; operationId: string }>`
    select distinct on (aggregate) aggregate, operation_id from outbox
    where aggregate = any(${recordIds}::text[]) and kind = 'command' and operation_id is not null
    order by aggregate, aggregate_seq
  `
  return new Map(rows.map(({ aggregate, operationId }) => [aggregate, operationId]))
}

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
