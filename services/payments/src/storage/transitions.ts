import type { TransitionActor } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { type RawBuilder, sql } from 'kysely'
import type { StatusTransition } from '../domain/transition.ts'

/**
 * The end of a statement that begins `with written as (…)` and writes one record, returning its id: its history is
 * written with it, or not at all. Answers a row when the record was written.
 */
export function recordTransition({
  operationId,
  transition,
}: {
  readonly operationId: string
  readonly transition: StatusTransition
}): RawBuilder<unknown> {
  const { version, from, to, at, by, reason } = transition
  return sql`
    insert into status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, reason, operation_id)
    select written.id, ${version}::integer, ${from}::text, ${to}::text, ${at}::timestamptz, ${by.kind}::text,
      ${by.name}::text, ${reason}::text, ${operationId}::text
    from written returning true
  `
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
