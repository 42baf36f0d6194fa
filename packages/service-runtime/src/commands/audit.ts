import type { AuditEntry, listAudit, Operation } from '@backoffice/contracts'
import { sql } from 'kysely'
import { newId } from '../ids.ts'
import type { Call, QueryTools, Sql } from './handlers.ts'
import type { AuditRow } from './unit-of-work.ts'

/** Who did what, to what and why: taken from the common shape of the team's operations. */
export function auditRow(operation: string, call: { readonly actor: string; readonly input: unknown }): AuditRow {
  const input = call.input as Record<string, unknown>
  return {
    actor: call.actor,
    operation,
    subject: subjectOf(input),
    reason: typeof input.reason === 'string' ? input.reason : null,
    input: withoutSecrets(input),
  }
}

/** Records a team action that is a posting, in the transaction of its effect. Commands are recorded by their runner. */
export async function recordAction(
  connection: Sql,
  operation: Operation,
  call: Pick<Call<Operation>, 'actor' | 'operationId'> & { readonly input: unknown },
  now: Date,
): Promise<void> {
  const row = auditRow(operation.id, call)
  await sql`
    insert into audit_entry (id, at, actor, operation, operation_id, subject, reason, input)
    values (${newId('aud')}, ${now}::timestamptz, ${row.actor}, ${row.operation}, ${call.operationId}, ${row.subject}, ${row.reason},
      ${JSON.stringify(row.input)}::json)
  `.execute(connection)
}

/** The record that an action is about: its own id if it names one, else the operator, brand or name. */
function subjectOf(input: Readonly<Record<string, unknown>>): string | null {
  const names = Object.keys(input)
  const owners = ['brandId', 'operatorId']
  const name = [
    ...names.filter((key) => key.endsWith('Id') && !owners.includes(key)),
    'key',
    'operatorId',
    'brandId',
    'name',
  ].find((key) => typeof input[key] === 'string')
  return name === undefined ? null : String(input[name])
}

function withoutSecrets(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !/secret|password/i.test(name)))
}

/** Answers the `listAudit` operation of any service. */
export async function readAudit(
  { input }: Call<ReturnType<typeof listAudit>>,
  tools: QueryTools,
): Promise<{ data: AuditEntry[] }> {
  const { rows } = await sql<AuditEntry & { at: Date }>`
    select id, at, actor, operation, operation_id as "operationId", subject, reason, input
    from audit_entry
    where (${input.actor ?? null}::text is null or actor = ${input.actor ?? null})
      and (${input.subject ?? null}::text is null or subject = ${input.subject ?? null})
      and (${input.since ?? null}::timestamptz is null or at >= ${input.since ?? null}::timestamptz)
    order by at desc, id desc
    limit ${input.limit}
  `.execute(tools.sql)
  return { data: rows.map((row) => ({ ...row, at: new Date(row.at).toISOString() })) }
}
