import type { ReconciliationReport } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'

export interface Progress {
  readonly check: string
  readonly done: number
  readonly total: number
}

export interface ReconciliationRun {
  readonly id: string
  readonly state: 'running' | 'done' | 'failed'
  readonly heartbeatAt: Date
  readonly progress: Progress
  readonly report: ReconciliationReport | null
  readonly failure: string | null
}

/** @returns false when the run was begun before */
export async function beginRun(
  connection: Sql,
  { id, startedBy, progress, now }: { id: string; startedBy: string; progress: Progress; now: Date },
): Promise<boolean> {
  const { rows } = await sql`
    insert into reconciliation (id, started_by, started_at, heartbeat_at, state, progress)
    values (${id}, ${startedBy}, ${now}::timestamptz, ${now}::timestamptz, 'running', ${JSON.stringify(progress)}::json)
    on conflict do nothing returning true
  `.execute(connection)
  return rows.length > 0
}

export async function keepProgress(
  connection: Sql,
  { id, progress, now }: { id: string; progress: Progress; now: Date },
): Promise<void> {
  await sql`
    update reconciliation set progress = ${JSON.stringify(progress)}::json, heartbeat_at = ${now}::timestamptz
    where id = ${id} and state = 'running'
  `.execute(connection)
}

export async function endRun(
  connection: Sql,
  run: { id: string; now: Date } & ({ report: ReconciliationReport } | { failure: string }),
): Promise<void> {
  const report = 'report' in run ? JSON.stringify(run.report) : null
  const failure = 'failure' in run ? run.failure : null
  await sql`
    update reconciliation set state = ${failure === null ? 'done' : 'failed'}, report = ${report}::json, failure = ${failure},
      heartbeat_at = ${run.now}::timestamptz
    where id = ${run.id} and state = 'running'
  `.execute(connection)
}

export async function findRun(connection: Sql, id: string): Promise<ReconciliationRun | null> {
  const { rows } = await sql<ReconciliationRun>`
    select id, state, heartbeat_at as "heartbeatAt", progress, report, failure from reconciliation where id = ${id}
  `.execute(connection)
  const row = rows[0]
  return row === undefined ? null : { ...row, heartbeatAt: new Date(row.heartbeatAt) }
}

/** Of the run that finished last. */
export async function latestReport(
  connection: Sql,
): Promise<{ readonly differencesTotal: number; readonly finishedAt: Date } | null> {
  const { rows } = await sql<{ total: number; finished: string }>`
    select (report ->> 'differencesTotal')::integer as total, heartbeat_at as finished
    from reconciliation where state = 'done' order by heartbeat_at desc limit 1
  `.execute(connection)
  const row = rows[0]
  return row === undefined ? null : { differencesTotal: row.total, finishedAt: new Date(row.finished) }
}
