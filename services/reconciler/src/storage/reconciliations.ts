import { Difference, type ReconciliationReport } from '@backoffice/contracts'
import { validate } from '@backoffice/rpc'
import { type Db, type ReadDb, sql } from '@backoffice/service-runtime'
import { type Static, Type } from '@sinclair/typebox'

/** A run without a heartbeat for this long has ended with its process. */
export const silenceSecondsMax = 60

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

const nullableText = Type.Union([Type.String(), Type.Null()])

/** A difference that the next run looks at again. */
const OpenDifference = Type.Object({
  difference: Type.Omit(Difference, ['class', 'environment']),
  /** What it is about; null: only a full run can tell whether it is still there. */
  kind: nullableText,
  key: Type.String(),
})
export type OpenDifference = Static<typeof OpenDifference>

const OpenDifferences = Type.Object({
  listed: Type.Array(OpenDifference),
  /** Differences that were counted and not listed. They count until a full run. */
  unlisted: Type.Array(Type.Object({ check: Type.String(), brandId: nullableText, count: Type.Integer() })),
})
export type OpenDifferences = Static<typeof OpenDifferences>

/** How far the last run came that ended. */
export interface ReconciliationCheckpoint {
  readonly runId: string
  /** Everything of transactions below this one was looked at. */
  readonly below: string
  /** Everything that was written before this moment was looked at. */
  readonly at: Date
  /** When the last full run that ended began. */
  readonly fullAt: Date
  readonly open: OpenDifferences
}

/** @returns false when the run was begun before */
export async function beginRun(
  db: Db,
  run: { id: string; startedBy: string; isFull: boolean; progress: Progress; now: Date },
): Promise<boolean> {
  const { id, startedBy, isFull, progress, now } = run
  const rows = await db`
    insert into reconciliation (id, started_by, started_at, heartbeat_at, state, progress, is_full)
    values (${id}, ${startedBy}, ${now}::timestamptz, ${now}::timestamptz, 'running', ${JSON.stringify(progress)}::json,
      ${isFull}::boolean)
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

interface RunSummary {
  readonly runId: string
  readonly state: ReconciliationRun['state']
  readonly startedBy: string
  readonly startedAt: Date
  readonly endedAt: Date | null
  readonly kind: ReconciliationReport['kind']
  readonly differencesIn: { readonly production: number; readonly sandbox: number } | null
}

/** Newest first. A run that has been silent for too long has ended with its process, and failed. */
export function listRuns(
  db: ReadDb,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<RunSummary[]> {
  return db<RunSummary>`
    select id as run_id, started_by, started_at,
      case when state = 'running' and heartbeat_at < clock_timestamp() - make_interval(secs => ${silenceSecondsMax}::int)
        then 'failed' else state end as state,
      case when state <> 'running' then heartbeat_at end as ended_at,
      coalesce(report ->> 'kind', case when is_full then 'full' else 'incremental' end) as kind,
      case when state = 'done' then report -> 'differencesIn' end as differences_in
    from reconciliation
    where ${before}::text is null
      or (started_at, id) < (select last.started_at, last.id from reconciliation last where last.id = ${before})
    order by started_at desc, id desc limit ${limit}
  `
}

export async function wasBegun(db: ReadDb, id: string): Promise<boolean> {
  const rows = await db`select from reconciliation where id = ${id}`
  return rows.length > 0
}

/** Whether a full run is under way in some replica that has shown itself since a moment. */
export async function isFullRunning(db: ReadDb, since: Date): Promise<boolean> {
  const rows = await db`
    select from reconciliation where state = 'running' and is_full and heartbeat_at > ${since}::timestamptz limit 1
  `
  return rows.length > 0
}

/**
 * Writes the transaction and the time of now, in each database. PostgreSQL says both, and keeps none that is out of order.
 * @param runId what it is written for
 * @param schemas with the moments of the other databases
 */
export async function keepMoment(db: Db, runId: string, schemas: Iterable<string>): Promise<void> {
  const tables = [sql`moment`, ...[...schemas].map((schema) => sql`${sql.identifier(schema)}.next_moment`)]
  for (const table of tables) await db`insert into ${table} (run_id) values (${runId})`
}

/** Of the run that finished last. */
export async function latestReport(
  db: ReadDb,
): Promise<{ readonly differencesOf: ReconciliationReport['differencesOf']; readonly finishedAt: Date } | undefined> {
  const rows = await db<{ differencesOf: ReconciliationReport['differencesOf']; finishedAt: Date }>`
    select report -> 'differencesOf' as differences_of, heartbeat_at as finished_at
    from reconciliation where state = 'done' order by heartbeat_at desc limit 1
  `
  return rows[0]
}

/**
 * One that cannot be read is as good as none: the next run looks at everything.
 * @param unreadable is told of it
 */
export async function findCheckpoint(
  db: ReadDb,
  unreadable: () => void = () => {},
): Promise<ReconciliationCheckpoint | undefined> {
  const [row] = await db<ReconciliationCheckpoint>`
    select run_id, below::text, at, full_at, open from reconciler.checkpoint
  `
  if (row === undefined || isReadable(row)) return row
  unreadable()
  return undefined
}

/** The service's role may write anything into the row. */
const isReadable = ({ at, fullAt, open }: ReconciliationCheckpoint): boolean =>
  [at, fullAt].every((time) => time instanceof Date && !Number.isNaN(time.getTime())) &&
  validate(OpenDifferences, open) === null &&
  open.listed.every(
    ({ kind, key }) => (kind !== 'account' || /^-?\d+$/.test(key)) && (kind !== 'head' || isObject(key)),
  )

function isObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object' && text.startsWith('{')
  } catch {
    return false
  }
}

/**
 * Writes how far a run came. An incremental one went on from another checkpoint, and counts only while that is the last.
 * @param after the run whose checkpoint that is; null for a full run
 * @returns whether it counts
 */
export async function keepCheckpoint(
  db: Db,
  { runId, below, at, fullAt, open }: ReconciliationCheckpoint,
  after: string | null,
): Promise<boolean> {
  const rows = await db`
    insert into checkpoint (run_id, below, at, full_at, open)
    values (${runId}, ${below}::text::xid8, ${at}::timestamptz, ${fullAt}::timestamptz, ${JSON.stringify(open)}::json)
    on conflict (only_row) do update
      set run_id = excluded.run_id, below = excluded.below, at = excluded.at, full_at = excluded.full_at,
        open = excluded.open
      where ${after}::text is null or checkpoint.run_id = ${after}
    returning true
  `
  return rows.length > 0
}

/** How far the entries of an account were verified. */
export interface AccountCheckpoint {
  readonly accountId: bigint
  /** How many; of a player's account also the number of the last one. */
  readonly entries: bigint
  readonly balance: bigint
  /** Of a player's last entry; null of a system account. */
  readonly hash: Buffer | null
}

/** All of them hold entries of transactions below `below` only. What has not changed is not written. */
export async function keepAccountCheckpoints(
  db: Db,
  checkpoints: readonly AccountCheckpoint[],
  below: string,
): Promise<void> {
  if (checkpoints.length === 0) return
  const rows = checkpoints.map(({ balance, ...checkpoint }) => ({ ...checkpoint, balance: String(balance) }))
  await db`
    insert into account_checkpoint (account_id, entries, balance, hash, below)
    select account_id, entries, balance::numeric, hash, ${below}::text::xid8
    from ${sql.unnest('c', rows, 'account_id bigint, entries bigint, balance text, hash bytea')}
    order by account_id
    on conflict (account_id) do update
      set entries = excluded.entries, balance = excluded.balance, hash = excluded.hash, below = excluded.below
      where account_checkpoint.below > excluded.below or (account_checkpoint.entries, account_checkpoint.balance,
        account_checkpoint.hash) is distinct from (excluded.entries, excluded.balance, excluded.hash)
        -- A system account's checkpoint is the sum up to exactly its transaction.
        or excluded.hash is null
  `
}

/** What there is, in so many pieces. They stay the same: a proof takes some of them each time. */
export const piecesInAll = 128

/** When a piece was proven last, by a run that ended. */
interface Proof {
  readonly piece: number
  readonly at: Date | null
}

/** Of all pieces, the one first whose proof is the oldest. A time that cannot be is none. */
export const readProofs = (db: ReadDb): Promise<Proof[]> => db<Proof>`
  select n as piece, p.at from generate_series(0, ${piecesInAll}::int - 1) n
  left join reconciler.proof p on p.piece = n and p.at > '2000-01-01' and p.at < now() + interval '1 minute'
  order by p.at nulls first, n
`

export const oldestPieces = (proofs: readonly Proof[], most: number): readonly number[] =>
  proofs.slice(0, most).map(({ piece }) => piece)

/** Since when all was proven; null when some never was. */
export const provenSince = ([oldest]: readonly Proof[]): Date | null => oldest?.at ?? null

/** @param pieces null: all */
export async function keepProofs(db: Db, pieces: readonly number[] | null, at: Date): Promise<void> {
  await db`
    insert into reconciler.proof (piece, at)
    select n, ${at}::timestamptz from generate_series(0, ${piecesInAll}::int - 1) n
    where ${pieces}::int[] is null or n = any(${pieces}::int[])
    on conflict (piece) do update set at = excluded.at
  `
}

export async function forgetProofs(db: Db): Promise<void> {
  await db`delete from reconciler.proof`
}
