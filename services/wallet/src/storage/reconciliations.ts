import type { ReconciliationReport } from '@backoffice/contracts'
import type { Db, ReadDb } from '@backoffice/service-runtime'

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
  db: Db,
  { id, startedBy, progress, now }: { id: string; startedBy: string; progress: Progress; now: Date },
): Promise<boolean> {
  const rows = await db`
    insert into reconciliation (id, started_by, started_at, heartbeat_at, state, progress)
    values (${id}, ${startedBy}, ${now}::timestamptz, ${now}::timestamptz, 'running', ${JSON.stringify(progress)}::json)
    on conflict do nothing returning true
  `
  return rows.length > 0
}

export async function keepProgress(
  db: Db,
  { id, progress, now }: { id: string; progress: Progress; now: Date },
): Promise<void> {
  await db`
    update reconciliation set progress = ${JSON.stringify(progress)}::json, heartbeat_at = ${now}::timestamptz
    where id = ${id} and state = 'running'
  `
}

export async function endRun(
  db: Db,
  run: { id: string; now: Date } & ({ report: ReconciliationReport } | { failure: string }),
): Promise<void> {
  const report = 'report' in run ? JSON.stringify(run.report) : null
  const failure = 'failure' in run ? run.failure : null
  await db`
    update reconciliation set state = ${failure === null ? 'done' : 'failed'}, report = ${report}::json,
      failure = ${failure}::text, heartbeat_at = ${run.now}::timestamptz
    where id = ${run.id} and state = 'running'
  `
}

export async function findRun(db: ReadDb, id: string): Promise<ReconciliationRun | undefined> {
  const rows = await db<ReconciliationRun>`
    select id, state, heartbeat_at, progress, report, failure from reconciliation where id = ${id}
  `
  return rows[0]
}

/** Of the run that finished last. */
export async function latestReport(
  db: ReadDb,
): Promise<{ readonly production: number; readonly sandbox: number; readonly finishedAt: Date } | undefined> {
  const rows = await db<{ production: number; sandbox: number; finishedAt: Date }>`
    -- A report of the release before does not tell them apart.
    select coalesce(report #>> '{differencesIn,production}', report ->> 'differencesTotal')::integer as production,
      coalesce((report #>> '{differencesIn,sandbox}')::integer, 0) as sandbox, heartbeat_at as finished_at
    from reconciliation where state = 'done' order by heartbeat_at desc limit 1
  `
  return rows[0]
}
