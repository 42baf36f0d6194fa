import type { WebhookEndpoint } from '@backoffice/contracts'
import type { ReadDb } from '@backoffice/service-runtime'
import type { BreakerSettings } from '../domain/breaker.ts'
import { findBacklog } from '../storage/deliveries.ts'
import { toEndpoint } from '../storage/endpoints.ts'
import type { EndpointRow } from '../storage/entities.ts'
import { loadSecrets } from '../storage/secrets.ts'

/** An endpoint as the team sees it, with what waits for it. */
export async function describeEndpoint(
  db: ReadDb,
  row: EndpointRow,
  { settings, now }: { readonly settings: BreakerSettings; readonly now: Date },
): Promise<WebhookEndpoint> {
  const [secrets, backlog] = await Promise.all([loadSecrets(db, [row.id], now), findBacklog(db, row.id)])
  const { url, enabled, disabledAt, disabledReason, breaker, updatedAt } = toEndpoint(row, settings)
  return {
    operatorId: row.operatorId,
    environment: row.environment,
    url,
    enabled,
    disabledAt: iso(disabledAt),
    disabledReason,
    breaker: {
      state: breaker.state,
      consecutiveFailures: breaker.consecutiveFailures,
      failingSince: iso(breaker.failingSince),
      retryAt: iso(breaker.openUntil),
      concurrency: breaker.concurrency,
    },
    secrets: secrets.map(({ createdAt, expiresAt }) => ({
      createdAt: createdAt.toISOString(),
      expiresAt: iso(expiresAt),
    })),
    pending: backlog.pending,
    oldestPendingAt: iso(backlog.oldestAt),
    updatedAt: updatedAt.toISOString(),
  }
}

const iso = (date: Date | null) => date?.toISOString() ?? null
