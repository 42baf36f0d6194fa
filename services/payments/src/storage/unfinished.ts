import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'

/** The operation whose command to the wallet, about this record, is still unfinished. */
export async function findUnfinished(connection: Sql, recordId: string): Promise<string | null> {
  const { rows } = await sql<{ operationId: string }>`
    select operation_id as "operationId" from outbox
    where aggregate = ${recordId} and kind = 'command' and done_at is null
    order by aggregate_seq limit 1
  `.execute(connection)
  return rows[0]?.operationId ?? null
}

/** Which of these records the wallet has not done its part of yet. */
export async function listUnfinished(connection: Sql, recordIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ aggregate: string }>`
    select distinct aggregate from outbox where aggregate = any(${recordIds}::text[]) and kind = 'command' and done_at is null
  `.execute(connection)
  return new Set(rows.map(({ aggregate }) => aggregate))
}
