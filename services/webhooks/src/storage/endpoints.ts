import { type Environment, Rejection, type WebhookEndpoint } from '@backoffice/contracts'
import { newId, type Sql } from '@backoffice/service-runtime'
import { type EntityManager, LockMode } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import { type Breaker, type BreakerSettings, closedBreaker } from '../domain/breaker.ts'
import { endpointId } from './endpoint-id.ts'
import { EndpointEntity, type EndpointRow } from './entities.ts'

export interface EndpointKey {
  readonly operatorId: string
  readonly environment: Environment
}

export function findEndpoint(em: EntityManager, key: EndpointKey): Promise<EndpointRow | null> {
  return em.findOne(EndpointEntity, { id: endpointId(key) }, { disableIdentityMap: true })
}

/** Reads an endpoint and locks its row until the transaction ends. */
export function lockEndpoint(em: EntityManager, id: string): Promise<EndpointRow | null> {
  return em.findOne(EndpointEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
}

/** As `lockEndpoint`, for the team. @throws {Rejection} OPERATOR_NOT_FOUND */
export async function lockEndpointOf(em: EntityManager, key: EndpointKey): Promise<EndpointRow> {
  const endpoint = await lockEndpoint(em, endpointId(key))
  if (endpoint === null) throw new Rejection('OPERATOR_NOT_FOUND')
  return endpoint
}

/** Makes the endpoint's row if there is none: an event may come before anybody has set a URL. */
export async function ensureEndpoint(connection: Sql, key: EndpointKey, now: Date): Promise<void> {
  await sql`
    insert into endpoint (id, operator_id, environment, created_at, updated_at)
    values (${endpointId(key)}, ${key.operatorId}, ${key.environment}, ${now}::timestamptz, ${now}::timestamptz)
    on conflict do nothing
  `.execute(connection)
}

export function toBreaker(row: EndpointRow, settings: BreakerSettings): Breaker {
  return {
    state: row.breakerState,
    consecutiveFailures: row.consecutiveFailures,
    failingSince: row.failingSince ?? null,
    openUntil: row.openUntil ?? null,
    openings: row.openings,
    concurrency: Math.min(row.concurrency ?? settings.concurrencyMax, settings.concurrencyMax),
  }
}

/** The breaker's columns. At full concurrency the row follows the service's setting. */
export function breakerColumns(breaker: Breaker, settings: BreakerSettings) {
  return {
    breakerState: breaker.state,
    consecutiveFailures: breaker.consecutiveFailures,
    failingSince: breaker.failingSince,
    openUntil: breaker.openUntil,
    openings: breaker.openings,
    concurrency: breaker.concurrency >= settings.concurrencyMax ? null : breaker.concurrency,
  }
}

/** Sets a URL, which also enables the endpoint and forgets the failures of the former one. */
export function applyUrl(endpoint: EndpointRow, url: string, settings: BreakerSettings, now: Date): void {
  Object.assign(endpoint, {
    url,
    enabled: true,
    disabledAt: null,
    disabledReason: null,
    updatedAt: now,
    ...breakerColumns(closedBreaker(settings), settings),
  })
}

/** Disables an endpoint whose row is locked; what waits for it is withheld until a resend or a replay. */
export async function disableEndpoint(
  connection: Sql,
  { id, reason, now }: { readonly id: string; readonly reason: string; readonly now: Date },
): Promise<number> {
  await sql`
    update endpoint set enabled = false, disabled_at = ${now}::timestamptz, disabled_reason = ${reason}, updated_at = ${now}::timestamptz
    where id = ${id}
  `.execute(connection)
  const { rows } = await sql`
    update delivery set state = 'withheld', next_attempt_at = null, finished_at = ${now}::timestamptz
    where endpoint_id = ${id} and state = 'pending' returning true
  `.execute(connection)
  return rows.length
}

/** An entry of the audit trail that no person caused. */
export async function auditBySystem(
  connection: Sql,
  entry: {
    readonly operation: string
    readonly subject: string
    readonly reason: string
    readonly input: unknown
    readonly now: Date
  },
): Promise<void> {
  const id = newId('aud')
  await sql`
    insert into audit_entry (id, at, actor, operation, operation_id, subject, reason, input)
    values (${id}, ${entry.now}::timestamptz, 'webhooks', ${entry.operation}, ${id}, ${entry.subject}, ${entry.reason},
      ${JSON.stringify(entry.input)}::json)
  `.execute(connection)
}

/** An endpoint as the team sees it. */
export async function describeEndpoint(
  connection: Sql,
  endpoint: EndpointRow,
  { settings, now }: { readonly settings: BreakerSettings; readonly now: Date },
): Promise<WebhookEndpoint> {
  const [{ rows: secrets }, { rows: backlog }] = [
    await sql<{ created_at: string; expires_at: string | null }>`
      select created_at, expires_at from secret
      where endpoint_id = ${endpoint.id} and (expires_at is null or expires_at > ${now}::timestamptz)
      order by created_at desc, id desc
    `.execute(connection),
    await sql<{ pending: number; oldest: string | null }>`
      select count(*)::integer as pending, min(received_at) as oldest from delivery
      where endpoint_id = ${endpoint.id} and state = 'pending'
    `.execute(connection),
  ]
  const breaker = toBreaker(endpoint, settings)
  const iso = (date: Date | string | null | undefined) => (date == null ? null : new Date(date).toISOString())
  return {
    operatorId: endpoint.operatorId,
    environment: endpoint.environment,
    url: endpoint.url ?? null,
    enabled: endpoint.enabled,
    disabledAt: iso(endpoint.disabledAt),
    disabledReason: endpoint.disabledReason ?? null,
    breaker: {
      state: breaker.state,
      consecutiveFailures: breaker.consecutiveFailures,
      failingSince: iso(breaker.failingSince),
      retryAt: iso(breaker.openUntil),
      concurrency: breaker.concurrency,
    },
    secrets: secrets.map((row) => ({
      createdAt: new Date(row.created_at).toISOString(),
      expiresAt: iso(row.expires_at),
    })),
    pending: backlog[0]?.pending ?? 0,
    oldestPendingAt: iso(backlog[0]?.oldest ?? null),
    updatedAt: endpoint.updatedAt.toISOString(),
  }
}
