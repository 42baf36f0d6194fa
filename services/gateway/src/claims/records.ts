import { type Environment, idempotencyMemoryHours, timestampToleranceSeconds } from '@backoffice/contracts'
import { isReplyToSeal, type Place, type Vault } from '@backoffice/database/vault'
import { type Db, sql } from '@backoffice/service-runtime'
import type { SealedTable } from '@backoffice/team-access'
import { type Claim, judgeUsedKey, type MyClaim, type StoredResponse, type UsedKey } from './claim.ts'

const keyColumns = 'operator_id text, environment text, key text'
const attemptColumns = `${keyColumns}, token uuid` as const
const claimColumns = `${attemptColumns}, fingerprint bytea, operation text, operation_id text` as const
const signatureColumns = 'operator_id text, environment text, signature_digest bytea, key text'
const responseColumns = 'status smallint, content_type text, body bytea, request_id text'

export interface ClaimKey {
  readonly operatorId: string
  readonly environment: Environment
  readonly key: string
}

/** A key, and the attempt that asks for it or holds it. */
export interface ClaimAttempt extends ClaimKey {
  /** A UUID, in lower case. */
  readonly token: string
}

export interface ClaimRequest extends ClaimAttempt {
  readonly fingerprint: Buffer
  readonly operation: string
  /** Used if the key is new. A later attempt with the key gets the operation id of the first. */
  readonly operationId: string
  readonly leaseMs: number
  /**
   * SHA-256 of the signature, which from now on is accepted under this key only. Null without replay protection: then
   * it is accepted under any key.
   */
  readonly signatureDigest: Buffer | null
}

export interface Completion extends ClaimAttempt {
  /** Of the operation that the attempt ran. */
  readonly operation: string
  readonly operationId: string
  readonly response: StoredResponse
}

/** How often a batch asks again for keys that others claim at the same moment. */
const looksMax = 5

/**
 * How long a signature is remembered. Its timestamp may be ahead of our clock by the tolerance, and is then accepted
 * for twice that time. A minute more, because PostgreSQL has another clock than the gateways.
 */
const signatureMemorySeconds = 2 * timestampToleranceSeconds + 60

/**
 * Claims keys. A statement asks for each key once, and also judges expiry. Of several requests with one key the first
 * asks, and the others are judged by what it found.
 * @returns one claim per request, in order
 */
export async function claimKeys(db: Db, requests: readonly ClaimRequest[]): Promise<Claim[]> {
  const claims = new Map<ClaimRequest, Claim>()
  for (let look = 1; look <= looksMax && claims.size < requests.length; look++) {
    const waiting = requests.filter((request) => !claims.has(request))
    const twins = [...Map.groupBy(waiting, nameOf).values()] as [ClaimRequest, ...ClaimRequest[]][]
    const rows = await askForKeys(db, waiting)
    for (const [first, ...others] of twins) {
      const own = rows.get(first.token)
      if (own?.mine) claims.set(first, { state: 'mine', operationId: own.operationId, until: own.until })
      const claimed = own?.mine ? justClaimed(first, own.operationId) : undefined
      for (const request of own?.mine ? others : [first, ...others]) {
        const claim = judge(db, request, rows.get(request.token), claimed)
        if (claim !== null) claims.set(request, claim)
      }
    }
  }
  return requests.map((request) => claims.get(request) ?? { state: 'running', remainingMs: 0 })
}

/**
 * What a request is told that has not claimed its key.
 * @param claimed the key, if another request of the batch has just claimed it
 * @returns null when the next look must tell: another batch was committed after the statement's snapshot
 */
function judge(
  { vault }: Db,
  request: ClaimRequest,
  row: ClaimRow | undefined,
  claimed: UsedKey | undefined,
): Claim | null {
  if (request.signatureDigest !== null) {
    const { signatureKey = null } = row ?? {}
    if (signatureKey === null) return null
    if (signatureKey !== request.key) return { state: 'signature used' }
  }
  const used =
    claimed ?? (row?.mine === false && row.known ? { ...row, response: responseOf(vault, request, row) } : undefined)
  return used === undefined ? null : judgeUsedKey(used, request.fingerprint)
}

const nameOf = ({ operatorId, environment, key }: ClaimKey): string => `${operatorId} ${environment} ${key}`

const nameOfSignature = ({ operatorId, environment, signatureDigest }: Omit<SignatureUse, 'key'>): string =>
  `${operatorId} ${environment} ${signatureDigest.toString('hex')}`

/** Tells of each item whether it is the first of its name. One statement cannot write a row twice. */
function firstOfEach<Item>(nameOfItem: (item: Item) => string): (item: Item) => boolean {
  const names = new Set<string>()
  return (item) => {
    const before = names.size
    return names.add(nameOfItem(item)).size > before
  }
}

const justClaimed = (request: ClaimRequest, operationId: string): UsedKey => ({
  ...request,
  operationId,
  expired: false,
  remainingMs: request.leaseMs,
  response: null,
})

type ResponseColumns = { readonly [Field in keyof StoredResponse]: StoredResponse[Field] | null }

/** A key may look like anything but has no space. */
const placeOf = ({ operatorId, environment, key }: ClaimKey): Place => ({
  column: 'claim.body',
  row: `${operatorId} ${environment} ${key}`,
})

/** @throws when the body was sealed under a master key that is not known */
function responseOf(
  vault: Vault,
  claim: ClaimKey,
  { operation, status, contentType, body, requestId }: ResponseColumns & { readonly operation: string },
): StoredResponse | null {
  if (status === null || contentType === null || body === null || requestId === null) return null
  const opened = isToSeal(operation, status) ? vault.openBytes(body, placeOf(claim)) : body
  return { status, contentType, body: opened, requestId }
}

/** The reply of a refusal says nothing about a person. */
export const isToSeal = (operation: string, status: number) => status < 400 && isReplyToSeal(operation)

export const sealedClaims: SealedTable = {
  table: 'claim',
  key: keyColumns,
  reads: 'operation text, status smallint, body bytea',
  writes: 'body bytea',
  renew({ operation, status, body, ...claim }, vault) {
    if (body === null || !isToSeal(operation, status)) return null
    const renewed = vault.renewBytes(body, placeOf(claim))
    return renewed === null ? null : { body: renewed }
  },
}

/** What the statement found, with the token of the request that asked. */
type ClaimRow = ResponseColumns & {
  readonly token: string
  /** The only key under which the request's signature is accepted; null when none is remembered. */
  readonly signatureKey: string | null
} & (
    | /** The request has claimed its key. */ ({ readonly mine: true } & Pick<MyClaim, 'operationId' | 'until'>)
    | /** The key had been used before. */ ({ readonly mine: false; readonly known: true } & Omit<UsedKey, 'response'>)
    | { readonly mine: false; readonly known: false }
  )

/**
 * Remembers signatures, each for its key. A row is missing in the result when a signature belongs to another key. Under
 * its own key a signature is accepted again, since retries within a second have the same one.
 */
const remembered = sql`
  remembered as (
    insert into used_signature as s (${sql.columns(signatureColumns)}, expires_at)
    select ${sql.columns(signatureColumns)}, clock_timestamp() + make_interval(secs => ${signatureMemorySeconds}::int)
    from asked where signs order by operator_id collate "C", environment collate "C", signature_digest
    on conflict (operator_id, environment, signature_digest) do update
      set key = excluded.key, expires_at = excluded.expires_at
    where s.key = excluded.key or s.expires_at <= clock_timestamp()
    returning ${sql.columns(signatureColumns, 's')}
  )
`

/** The use of a signature by a request without an Idempotency-Key. */
export interface SignatureUse {
  readonly operatorId: string
  readonly environment: Environment
  readonly signatureDigest: Buffer
  /** Names the request. No Idempotency-Key may look like it. */
  readonly key: string
}

/**
 * Remembers the signatures of requests without an Idempotency-Key. None is accepted twice, but a batch may run again.
 * @returns in order, whether the signature was accepted
 */
export async function useSignatures(db: Db, uses: readonly SignatureUse[]): Promise<boolean[]> {
  const isFirst = firstOfEach(nameOfSignature)
  const asked = uses.map((use) => ({ ...use, signs: isFirst(use) }))
  const rows = await db<{ key: string }>`
    with asked as (
      select * from ${sql.unnest('a', asked, `${signatureColumns}, signs bool`)}
    ), ${remembered}
    select key from remembered
  `
  const accepted = new Set(rows.map(({ key }) => key))
  return uses.map(({ key }) => accepted.has(key))
}

/**
 * Asks for keys; of requests with one key the first asks. When a gateway dies, its lease ends and frees the key.
 * Fingerprint and operation id stay, so a retry carries on with the same effect. An attempt may ask again for what it
 * holds, because its batch may run again. A key whose signature belongs to another key is not claimed. Rows are locked
 * in the order of their keys, here and in all statements below, so that two batches cannot deadlock: signatures before
 * claims.
 * @returns rows by the token of the request that asked
 */
async function askForKeys(db: Db, requests: readonly ClaimRequest[]): Promise<ReadonlyMap<string, ClaimRow>> {
  const isFirst = firstOfEach(nameOf)
  const isFirstSigned = firstOfEach(nameOfSignature)
  const asked = requests.map((request) => {
    const { signatureDigest } = request
    const signs = signatureDigest !== null && isFirstSigned({ ...request, signatureDigest })
    return { ...request, first: isFirst(request), signs }
  })
  const rows = await db<ClaimRow>`
    with asked as (
      select * from ${sql.unnest('a', asked, `${claimColumns}, lease_ms int, signature_digest bytea, first bool, signs bool`)}
    ), ${remembered}, mine as (
      insert into claim as c (${sql.columns(claimColumns)}, leased_until, expires_at)
      select ${sql.columns(claimColumns)},
        clock_timestamp() + make_interval(secs => lease_ms / 1000.0),
        clock_timestamp() + make_interval(hours => ${idempotencyMemoryHours}::int)
      from asked where first and (signature_digest is null
        or (operator_id, environment, signature_digest, key) in (select ${sql.columns(signatureColumns)} from remembered))
      order by operator_id collate "C", environment collate "C", key collate "C"
      on conflict (operator_id, environment, key) do update set
        token = excluded.token, leased_until = excluded.leased_until,
        fingerprint = excluded.fingerprint, operation = excluded.operation,
        operation_id = case when c.status is null then c.operation_id else excluded.operation_id end,
        expires_at = case when c.status is null then c.expires_at else excluded.expires_at end,
        status = null, content_type = null, body = null, request_id = null
      where case when c.expires_at > clock_timestamp()
        then c.status is null
          and c.fingerprint = excluded.fingerprint
          and (c.leased_until is null or c.leased_until <= clock_timestamp() or c.token = excluded.token
            -- It was taken before the clock was set back, and would last for all of that step.
            or c.leased_until > excluded.leased_until + interval '1 second')
        else c.status is not null end
      returning c.token, c.operation_id, c.expires_at
    )
    select a.token, m.token is not null as mine, c.key is not null as known,
      coalesce(r.key, s.key) as signature_key, coalesce(m.operation_id, c.operation_id) as operation_id, c.operation,
      c.fingerprint, m.expires_at as until, c.expires_at <= clock_timestamp() as expired,
      coalesce(extract(epoch from c.leased_until - clock_timestamp()) * 1000, 0)::float8 as remaining_ms,
      c.status, c.content_type, c.body, c.request_id
    from asked a left join mine m using (token)
      left join claim c on c.operator_id = a.operator_id and c.environment = a.environment and c.key = a.key
      left join remembered r on r.operator_id = a.operator_id and r.environment = a.environment
        and r.signature_digest = a.signature_digest
      left join used_signature s on s.operator_id = a.operator_id and s.environment = a.environment
        and s.signature_digest = a.signature_digest
  `
  return new Map(rows.map((row) => [row.token, row]))
}

/**
 * Whether each key stands for a request already: one that runs, has its reply, or may have had its effect.
 * @returns in order
 */
export async function areKeysUsed(db: Db, keys: readonly ClaimKey[]): Promise<boolean[]> {
  const rows = await db<ClaimKey>`
    select operator_id, environment, key
    from ${sql.unnest('a', keys, keyColumns)} join claim c using (operator_id, environment, key)
    where c.status is null or c.expires_at > clock_timestamp()
  `
  const used = new Set(rows.map(nameOf))
  return keys.map((key) => used.has(nameOf(key)))
}

/** Forgets an expired key whose outcome is resolved now, as if it had never been used. */
export async function forgetClaim(
  db: Db,
  { operatorId, environment, key }: ClaimKey,
  operationId: string,
): Promise<void> {
  await db`
    delete from claim where operator_id = ${operatorId} and environment = ${environment} and key = ${key}
      and operation_id = ${operationId} and status is null and expires_at <= clock_timestamp()
  `
}

/** Locks the claims that the given attempts still hold. */
const held = sql`
  held as (
    select c.operator_id, c.environment, c.key, c.token from asked a join claim c using (operator_id, environment, key, token)
    where c.status is null
    order by c.operator_id collate "C", c.environment collate "C", c.key collate "C" for update of c
  )
`
const isHeld = sql`
  c.operator_id = h.operator_id and c.environment = h.environment and c.key = h.key and c.token = h.token and c.status is null
`

/**
 * Stores replies under their tokens, which nobody needs afterwards. The first writer wins.
 * @returns in order, what to send: what is stored, so a slower attempt gets the reply of the other. Null when nothing
 *   is stored for its operation: the lease was over, and another attempt that holds the key now will reply; or the key
 *   has expired meanwhile, and stands for another operation
 */
export async function storeResponses(db: Db, completions: readonly Completion[]): Promise<(StoredResponse | null)[]> {
  const { vault } = db
  const asked = completions.map(({ response, operation, ...attempt }) => {
    const { body, status } = response
    const stored = isToSeal(operation, status) ? vault.sealBytes(body, placeOf(attempt)) : body
    return { ...attempt, ...response, body: stored }
  })
  type Row = { token: string; operation: string; operationId: string; synchronousCommit: string | null }
  // What is lost with PostgreSQL is made again: the service knows what it replied. But a refusal names its request.
  const waits = asked.some(({ status }) => status >= 400)
  const rows = await db<Row & ResponseColumns>`
    with asked as (
      select * from ${sql.unnest('a', asked, `${attemptColumns}, operation_id text, ${responseColumns}`)}
    ), ${held}, stored as (
      update claim c set ${sql.assignments('a', responseColumns)}, leased_until = null, token = null
      from asked a join held h using (token) where ${isHeld}
      returning h.token
    )
    select a.token, c.operation, c.operation_id, c.status, c.content_type, c.body, c.request_id, ${sql.synchronousCommit(waits)}
    from asked a join claim c using (operator_id, environment, key) left join stored s on s.token = a.token
    where s.token is not null or (c.status is not null and c.operation_id = a.operation_id)
  `
  const found = new Map(rows.map((row) => [row.token, row]))
  return completions.map(({ token, response, ...claim }) => {
    const row = found.get(token)
    if (row === undefined) return null
    return responseOf(vault, claim, row) ?? response
  })
}

/** Ends leases after unknown outcomes, so that a retry with the same key can carry on. */
export async function releaseClaims(db: Db, attempts: readonly ClaimAttempt[]): Promise<void> {
  await db`
    with asked as (
      select * from ${sql.unnest('a', attempts, attemptColumns)}
    ), ${held}
    update claim c set leased_until = null from held h where ${isHeld}
  `
}
