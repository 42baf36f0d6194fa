import {
  type Environment,
  homologationCheckNames,
  type Input,
  idempotencyMemoryHours,
  type operations,
  publicErrorCodes,
  refusalRowsMax,
  refusalsCountedMax,
  type Scope,
} from '@backoffice/contracts'
import { type Db, type ReadDb, sql } from '@backoffice/service-runtime'
import { isToSeal } from '../claims/records.ts'
import type { Proof } from '../operators/operator.ts'
import { today } from '../operators/records.ts'

type Asked = Input<typeof operations.gateway.listRefusedRequests>

/**
 * What is kept of a day: of each operator and environment this many with a right signature and as many without one, and as
 * many of everybody else together. A row has 2 KiB at most, so that is 10 MiB.
 */
export const keptMax = 5_000
/** Whose requests are counted together. */
export interface RefusalSource {
  /** Of an operator or of a provider; of nobody whom we know, one of `unknownSenders`. */
  readonly operatorId: string
  readonly environment: Environment | ''
  /** Whether their signatures were right. Anybody may send an operator's key with a wrong one. */
  readonly verified: boolean
}

/** Who sends to a surface without a key that exists. What is sent to one takes no room of the other. */
export const unknownSenders = { operators: '', providers: 'prv_' } as const
const isOfProvider = (operatorId: string) => operatorId.startsWith(unknownSenders.providers)
/** Whose it is by the id that stands in the row. */
export const namedSender = (
  id: string,
): { readonly operatorId: string | null; readonly providerId: string | null } => ({
  operatorId: isOfProvider(id) || id === unknownSenders.operators ? null : id,
  providerId: isOfProvider(id) && id !== unknownSenders.providers ? id : null,
})

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

export type NamedRequest = RefusedRequest & {
  readonly operatorName: string | null
  readonly providerName: string | null
}
const namedColumns = sql`${sql.columns(storedColumns)}, (select name from operator where id = operator_id) as operator_name,
  (select name from provider where id = operator_id) as provider_name`

/** Newest first. */
export async function findRefusedRequests(db: ReadDb, asked: Asked): Promise<readonly NamedRequest[]> {
  const { requestId, operatorId = null, providerId = null, environment = null, code = null, before = null } = asked
  if (requestId !== undefined)
    return db<NamedRequest>`select ${namedColumns} from refused_request where request_id = ${requestId}`
  return db<NamedRequest>`
    select ${namedColumns} from refused_request
    where (${operatorId}::text is null or operator_id = ${operatorId}::text)
      and (${providerId}::text is null or operator_id = ${providerId}::text)
      and (${environment}::text is null or environment = ${environment}::text)
      and (${code}::text is null or code = ${code}::text)
      and (${before}::text is null or request_id < ${before}::text)
    order by request_id desc limit ${asked.limit}::int
  `
}

/** Of one operator or provider today, beyond what is kept of each source. */
export async function countNotKept(db: ReadDb, { environment, ...asked }: Asked): Promise<number> {
  const operatorId = asked.operatorId ?? asked.providerId
  if (operatorId === undefined) return 0
  const [row] = await db<{ notKept: number }>`
    select coalesce(sum(greatest(0, refused - ${keptMax}::bigint)), 0)::float8 as not_kept from refused_today
    where operator_id = ${operatorId} and day = ${today}
      and (${environment ?? null}::text is null or environment = ${environment ?? null}::text)
  `
  return row?.notKept ?? 0
}

interface RefusalCount {
  readonly operatorId: string
  readonly operatorName: string
  readonly code: string
  readonly refused: number
  readonly lastAt: Date
}

/** By operator and code, of the days for which they are kept: of each operator the last ones, which its index has. */
export const countRefused = (db: ReadDb, environment: Environment): Promise<RefusalCount[]> =>
  db<RefusalCount>`
    select o.id as operator_id, o.name as operator_name, r.code, count(*)::int as refused, max(r.at) as last_at
    from operator o cross join lateral (
      select code, at from refused_request
      where operator_id = o.id and environment = ${environment}
      order by request_id desc limit ${refusalsCountedMax}
    ) r
    group by 1, 2, 3 order by refused desc, o.name, r.code limit ${refusalRowsMax}
  `

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

export interface OperatorProof extends Proof {
  readonly operatorId: string
}

const proofColumns = 'operator_id text, item text, first_at timestamptz, proof text, last_at timestamptz'

/** Keeps the first proof of each check, whichever replica saw it. In one order, so that two replicas cannot deadlock. */
export async function writeProofs(db: Db, proofs: readonly OperatorProof[]): Promise<void> {
  await db`
    insert into homologation_proof as known (operator_id, item, first_at, proof, last_at)
    select operator_id, item, first_at, proof, last_at from ${sql.unnest('seen', proofs, proofColumns)}
    order by operator_id collate "C", item collate "C"
    on conflict (operator_id, item) do update set
      first_at = least(known.first_at, excluded.first_at),
      proof = case when excluded.first_at < known.first_at then excluded.proof else known.proof end,
      last_at = greatest(known.last_at, excluded.last_at)
  `
}

/** The requests of an operator that were refused with RATE_LIMITED in one window. */
export interface RateRefusal {
  readonly operatorId: string
  /** When Retry-After ends. */
  readonly until: Date
  readonly firstAt: Date
  readonly lastAt: Date
}

/** How far replicas may differ about the end of one window, which lasts for a minute. */
const sameWindow = sql`abs(extract(epoch from known.until - excluded.until)) < 5`

/** Adds up what replicas refused in one window, and forgets the window before. */
export async function writeRateRefusals(db: Db, refusals: readonly RateRefusal[]): Promise<void> {
  await db`
    insert into rate_refusal as known (operator_id, until, first_at, last_at)
    select operator_id, until, first_at, last_at
    from ${sql.unnest('seen', refusals, 'operator_id text, until timestamptz, first_at timestamptz, last_at timestamptz')}
    order by operator_id collate "C"
    on conflict (operator_id) do update set
      until = greatest(known.until, excluded.until),
      first_at = case when ${sameWindow} then least(known.first_at, excluded.first_at) else excluded.first_at end,
      last_at = case when ${sameWindow} then greatest(known.last_at, excluded.last_at) else excluded.last_at end
    where ${sameWindow} or excluded.until > known.until
  `
}

/** The operators of these whose refused requests, on all replicas, came within so many milliseconds. */
export async function findObedient(
  db: ReadDb,
  operatorIds: readonly string[],
  withinMs: number,
): Promise<readonly string[]> {
  const rows = await db<{ operatorId: string }>`
    select operator_id from rate_refusal
    where operator_id = any(${operatorIds}::text[]) and last_at - first_at <= ${withinMs}::integer * interval '1 millisecond'
  `
  return rows.map(({ operatorId }) => operatorId)
}

/**
 * What is proved of an operator, in any order. That a pair was changed stands in the keys and their uses: a key that was
 * used is revoked, and one that was there already was used afterwards.
 */
export async function findProofs(db: ReadDb, operatorId: string): Promise<readonly Proof[]> {
  const rows = await db<Proof>`
    select item, first_at, proof, last_at from homologation_proof
    where operator_id = ${operatorId} and item = any(${[...homologationCheckNames]}::text[])
    union all
    (select 'keyRotated', newer_use.last_used_at, newer.key, newer_use.last_used_at
    from brand b
    join credential older on older.brand_id = b.id
    join credential_use older_use on older_use.credential_id = older.id
    join credential newer on newer.brand_id = b.id and newer.id <> older.id and newer.created_at < older.revoked_at
    join credential_use newer_use on newer_use.credential_id = newer.id and newer_use.last_used_at > older.revoked_at
    where b.operator_id = ${operatorId} and b.environment = 'sandbox'
    order by newer_use.last_used_at desc limit 1)
  `
  return [...rows, ...(await findStoredProofs(db, operatorId))]
}

/** What an operator's claims and refused requests in the sandbox prove, for as long as they are kept. */
export function findStoredProofs(db: ReadDb, operatorId: string): Promise<Proof[]> {
  const proof = sql`(array_agg(request_id order by at))[1] as proof, max(at) as last_at`
  return db<Proof>`
    select item, min(at) as first_at, ${proof}
    from claim cross join lateral (select expires_at - make_interval(hours => ${idempotencyMemoryHours}::int) as at) as begun
    join (values ('confirmDeposit', 'depositConfirmed'), ('failDeposit', 'depositFailed'),
      ('cancelWithdrawal', 'withdrawalEnded')) as proved (operation, item) using (operation)
    where operator_id = ${operatorId} and environment = 'sandbox' and status < 400
    group by item
    union all
    select item, min(at), ${proof}
    -- A signature that was used before has the code of a conflict, and a hint.
    from refused_request
    join (values ('PLAYER_ALREADY_EXISTS', 'duplicatePlayer'), ('RG_BLOCKED', 'playerBlocked'),
      ('IDEMPOTENCY_CONFLICT', 'conflict')) as proved (code, item) using (code)
    where operator_id = ${operatorId} and environment = 'sandbox' and verified and hint is null
    group by item
  `
}

/** The sandbox brands of operators without a key of production, which are those that homologation is for. */
export function findApplicants(db: ReadDb): Promise<Scope[]> {
  return db<Scope>`
    select o.id as operator_id, b.id as brand_id, b.environment, b.currency, b.time_zone
    from operator o join brand b on b.operator_id = o.id and b.environment = 'sandbox'
    where not exists (
      select from brand live join credential c on c.brand_id = live.id
      where live.operator_id = o.id and live.environment = 'production')
    order by o.id
  `
}
