import type { Environment } from '@backoffice/contracts'
import { idempotencyMemoryHours } from '@backoffice/contracts'
import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'

export interface ClaimKey {
  readonly operatorId: string
  readonly environment: Environment
  readonly key: string
}

export interface ClaimRequest extends ClaimKey {
  readonly fingerprint: Buffer
  readonly operation: string
  /** Minted for a first claim; a later attempt of the same key gets the first one's. */
  readonly operationId: string
  readonly token: string
  readonly leaseMs: number
}

export interface StoredResponse {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
  readonly requestId: string
}

export type Claim =
  | { readonly state: 'mine'; readonly operationId: string }
  | { readonly state: 'replay'; readonly response: StoredResponse }
  | { readonly state: 'conflict' }
  | { readonly state: 'running'; readonly remainingMs: number }
  /** Past its memory, but nobody knows what became of it: it must be resolved before the key gets a new id. */
  | { readonly state: 'unresolved'; readonly operation: string; readonly operationId: string }

interface ClaimRow {
  mine: boolean
  sameFingerprint: boolean
  expired: boolean
  operation: string
  operationId: string
  remainingMs: number | null
  status: number | null
  contentType: string | null
  body: Buffer | null
  requestId: string | null
}

/**
 * Claims a key in one statement, which also judges expiry. Conflict is judged before in-progress. The lease frees a key
 * whose gateway died; its fingerprint and operation id stay, so a retry carries on with the same effect.
 */
export async function claimKey(connection: Sql, request: ClaimRequest): Promise<Claim> {
  const { operatorId, environment, key, fingerprint, operation, operationId, token, leaseMs } = request
  for (;;) {
    const { rows } = await sql<ClaimRow>`
      with mine as (
        insert into claim as c (operator_id, environment, key, fingerprint, operation, operation_id, token, leased_until, expires_at)
        values (${operatorId}, ${environment}, ${key}, ${fingerprint}, ${operation}, ${operationId}, ${token}::uuid,
          clock_timestamp() + make_interval(secs => ${leaseMs / 1000}), clock_timestamp() + make_interval(hours => ${idempotencyMemoryHours}))
        on conflict (operator_id, environment, key) do update set
          token = excluded.token, leased_until = excluded.leased_until,
          fingerprint = excluded.fingerprint, operation = excluded.operation,
          operation_id = case when c.status is null then c.operation_id else excluded.operation_id end,
          expires_at = case when c.status is null then c.expires_at else excluded.expires_at end,
          status = null, content_type = null, body = null, request_id = null
        where case when c.expires_at > clock_timestamp()
          then c.status is null and c.fingerprint = excluded.fingerprint and (c.leased_until is null or c.leased_until <= clock_timestamp())
          else c.status is not null end
        returning c.operation, c.operation_id
      )
      select true as mine, true as "sameFingerprint", false as expired, operation, operation_id as "operationId",
        null::float8 as "remainingMs", null::smallint as status, null::text as "contentType", null::bytea as body, null::text as "requestId"
      from mine
      union all
      select false, c.fingerprint = ${fingerprint}, c.expires_at <= clock_timestamp(), c.operation, c.operation_id,
        (extract(epoch from c.leased_until - clock_timestamp()) * 1000)::float8, c.status, c.content_type, c.body, c.request_id
      from claim c
      where c.operator_id = ${operatorId} and c.environment = ${environment} and c.key = ${key} and not exists (select from mine)
    `.execute(connection)
    // No row, or an answered one past its memory that was not ours to take: another claim of the key committed after this
    // statement's snapshot. The next look sees it.
    const row = rows[0]
    if (row !== undefined && (row.mine || !row.expired || row.status === null)) return judge(row)
  }
}

function judge(row: ClaimRow): Claim {
  const { operation, operationId, status, contentType, body, requestId } = row
  if (row.mine) return { state: 'mine', operationId }
  const leased = (row.remainingMs ?? 0) > 0
  if (row.expired)
    return leased
      ? { state: 'running', remainingMs: row.remainingMs ?? 0 }
      : { state: 'unresolved', operation, operationId }
  if (!row.sameFingerprint) return { state: 'conflict' }
  if (status === null || contentType === null || body === null || requestId === null) {
    return { state: 'running', remainingMs: row.remainingMs ?? 0 }
  }
  return { state: 'replay', response: { status, contentType, body, requestId } }
}

/** Gives an expired key, whose outcome is now resolved, to whoever claims it next: as if it had never been used. */
export async function forgetClaim(
  connection: Sql,
  { operatorId, environment, key }: ClaimKey,
  operationId: string,
): Promise<void> {
  await sql`
    delete from claim where operator_id = ${operatorId} and environment = ${environment} and key = ${key}
      and operation_id = ${operationId} and status is null and expires_at <= clock_timestamp()
  `.execute(connection)
}

/**
 * Stores the reply under the token, first writer wins. What is stored is what is answered: a slower attempt gets the
 * other's. Null when neither is stored: the lease was over, and another attempt, which holds the key now, will answer.
 */
export async function storeResponse(
  connection: Sql,
  { operatorId, environment, key }: ClaimKey,
  token: string,
  response: StoredResponse,
): Promise<StoredResponse | null> {
  const { rows } = await sql<StoredResponse>`
    with stored as (
      update claim set status = ${response.status}, content_type = ${response.contentType}, body = ${response.body},
        request_id = ${response.requestId}, leased_until = null
      where operator_id = ${operatorId} and environment = ${environment} and key = ${key} and token = ${token}::uuid and status is null
      returning status, content_type, body, request_id
    )
    select status, content_type as "contentType", body, request_id as "requestId" from stored
    union all
    select status, content_type, body, request_id from claim
    where operator_id = ${operatorId} and environment = ${environment} and key = ${key}
      and status is not null and not exists (select from stored)
  `.execute(connection)
  return rows[0] ?? null
}

/** The outcome is unknown: the lease ends, and a retry with the same key carries on. */
export async function releaseClaim(
  connection: Sql,
  { operatorId, environment, key }: ClaimKey,
  token: string,
): Promise<void> {
  await sql`
    update claim set leased_until = null
    where operator_id = ${operatorId} and environment = ${environment} and key = ${key} and token = ${token}::uuid and status is null
  `.execute(connection)
}
