import type { TransitionActor } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'
import type { StatusTransition } from '../domain/transition.ts'

/** Writes down one change of a deposit or withdrawal, for ever. */
export async function recordTransition(
  connection: Sql,
  {
    recordId,
    operationId,
    transition,
  }: { readonly recordId: string; readonly operationId: string; readonly transition: StatusTransition },
): Promise<void> {
  const { version, from, to, at, by, reason } = transition
  await sql`
    insert into status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, reason, operation_id)
    values (${recordId}, ${version}, ${from}, ${to}, ${at}::timestamptz, ${by.kind}, ${by.name}, ${reason}, ${operationId})
  `.execute(connection)
}

/** The history of a record, oldest first. */
export async function listTransitions(connection: Sql, recordId: string): Promise<StatusTransition[]> {
  const { rows } = await sql<Omit<StatusTransition, 'by'> & { byKind: TransitionActor['kind']; byName: string }>`
    select version, from_status as "from", to_status as "to", at, by_kind as "byKind", by_name as "byName", reason
    from status_transition where record_id = ${recordId} order by version
  `.execute(connection)
  return rows.map(({ byKind, byName, at, ...transition }) => ({
    ...transition,
    at: new Date(at),
    by: { kind: byKind, name: byName },
  }))
}
