import { type Environment, type Input, type operations, publicErrorCodes } from '@backoffice/contracts'
import { type Db, type ReadDb, sql } from '@backoffice/service-runtime'
import { isToSeal } from '../claims/records.ts'

type Asked = Input<typeof operations.gateway.listRefusedRequests>

/**
 * What is kept of a day: of each operator and environment this many with a right signature and as many without one, and as
 * many of everybody else together. A row has 2 KiB at most, so that is 10 MiB.
 */
export const keptMax = 5_000
/** Whose requests are counted together. Empty: of nobody whom we know. */
export interface RefusalSource {
  readonly operatorId: string
  readonly environment: Environment | ''
  /** Whether their signatures were right. Anybody may send an operator's key with a wrong one. */
  readonly verified: boolean
}

const storedColumns = `
  request_id text, at timestamptz, operator_id text, environment text, key text, verified bool, operation text, method text, path text,
  status int, code text, fields text, canonical_string text, hint text, duration_ms int
`

/** A row of the table. */
export interface RefusedRequest extends RefusalSource {
  readonly requestId: string
  readonly at: Date
  readonly key: string | null
  readonly operation: string | null
  readonly method: string
  readonly path: string
  readonly status: number
  readonly code: string
  readonly fields: string | null
  readonly canonicalString: string | null
  readonly hint: string | null
  readonly durationMs: number
}

/** How many were refused on the day that PostgreSQL's clock tells. */
export interface RefusedCount extends RefusalSource {
  readonly refused: number
}

const today = sql`(now() at time zone 'utc')::date`

/**
 * Counts refusals, in the order of their sources, so that two replicas cannot deadlock, and keeps those of sources that
 * stay within their bound. A replay has the id of the first reply, which is kept once.
 * @returns the day's counts of all replicas
 */
export async function keepRefusals(
  db: Db,
  counts: readonly RefusedCount[],
  requests: readonly RefusedRequest[],
): Promise<readonly RefusedCount[]> {
  return db<RefusedCount>`
    with counted as (
      insert into refused_today as c (operator_id, environment, verified, day, refused)
      select operator_id, environment, verified, ${today}, refused
      from ${sql.unnest('a', counts, 'operator_id text, environment text, verified bool, refused bigint')}
      order by operator_id collate "C", environment collate "C", verified
      on conflict (operator_id, environment, verified) do update set day = excluded.day,
        refused = case when c.day = excluded.day then c.refused else 0 end + excluded.refused
      returning operator_id, environment, verified, refused
    ), kept as (
      insert into refused_request (${sql.columns(storedColumns)})
      select ${sql.columns(storedColumns)} from ${sql.unnest('r', requests, storedColumns)}
      where (operator_id, environment, verified) in (
        select operator_id, environment, verified from counted where refused <= ${keptMax}::bigint
      )
      on conflict do nothing
    )
    select operator_id, environment, verified, refused::float8 as refused from counted
  `
}

export type NamedRequest = RefusedRequest & { readonly operatorName: string | null }
const namedColumns = sql`${sql.columns(storedColumns)}, (select name from operator where id = operator_id) as operator_name`

/** Newest first. */
export async function findRefusedRequests(db: ReadDb, asked: Asked): Promise<readonly NamedRequest[]> {
  const { requestId, operatorId = null, environment = null, code = null, before = null, limit } = asked
  if (requestId !== undefined)
    return db<NamedRequest>`select ${namedColumns} from refused_request where request_id = ${requestId}`
  return db<NamedRequest>`
    select ${namedColumns} from refused_request
    where (${operatorId}::text is null or operator_id = ${operatorId}::text)
      and (${environment}::text is null or environment = ${environment}::text)
      and (${code}::text is null or code = ${code}::text)
      and (${before}::text is null or request_id < ${before}::text)
    order by request_id desc limit ${limit}::int
  `
}

/** Of one operator today, beyond what is kept of each source. */
export async function countNotKept(db: ReadDb, { operatorId, environment }: Asked): Promise<number> {
  if (operatorId === undefined) return 0
  const [row] = await db<{ notKept: number }>`
    select coalesce(sum(greatest(0, refused - ${keptMax}::bigint)), 0)::float8 as not_kept from refused_today
    where operator_id = ${operatorId} and day = ${today}
      and (${environment ?? null}::text is null or environment = ${environment ?? null}::text)
  `
  return row?.notKept ?? 0
}

/** A key as operators use it, with what its reply begins with. */
export interface KeyUse {
  readonly operatorId: string
  readonly operatorName: string
  readonly environment: Environment
  readonly operation: string
  readonly status: number | null
  readonly code: string | null
  readonly requestId: string | null
  readonly recordId: string | null
  readonly expiresAt: Date
}

type KeyUseRow = Omit<KeyUse, 'code' | 'recordId'> & { readonly body: Buffer | null }

/** How many bytes of a reply are looked at: codes and ids stand at its beginning. */
const beginningBytes = 200

/** Each operator's key is a look into the primary key. */
export async function findKeyUses(db: ReadDb, key: string, limit: number): Promise<readonly KeyUse[]> {
  const rows = await db<KeyUseRow>`
    select c.operator_id, o.name as operator_name, c.environment, c.operation, c.status, c.request_id, c.expires_at,
      substring(c.body for ${beginningBytes}::int) as body
    from operator o cross join (values ('sandbox'), ('production')) as e (environment)
    join claim c on (c.operator_id, c.environment, c.key) = (o.id, e.environment, ${key})
    where c.expires_at > now()
    order by o.name, c.environment limit ${limit}::int
  `
  return rows.map(({ body, ...use }) => ({ ...use, ...beginningOf(use, body) }))
}

/** What is sealed stays so. */
function beginningOf(
  { operation, status }: Pick<KeyUse, 'operation' | 'status'>,
  body: Buffer | null,
): Pick<KeyUse, 'code' | 'recordId'> {
  const nothing = { code: null, recordId: null }
  if (status === null || body === null || isToSeal(operation, status)) return nothing
  const [, name, value = ''] = /^\{(?:"error":\{)?"(id|code)":"(\w+)"/.exec(body.toString('latin1')) ?? []
  if (name === 'id') return { ...nothing, recordId: value }
  return { ...nothing, code: publicErrorCodes.find((known) => known === value) ?? null }
}
