import { secretsShownMax, type WebhookEndpoint } from '@backoffice/contracts'
import { type ReadDb, withIsoTimes } from '@backoffice/service-runtime'
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
  const { breaker, ...endpoint } = toEndpoint(row, settings)
  const { state, consecutiveFailures, failingSince, openUntil, concurrency } = breaker
  return {
    operatorId: row.operatorId,
    environment: row.environment,
    ...withIsoTimes(endpoint),
    breaker: withIsoTimes({ state, consecutiveFailures, failingSince, retryAt: openUntil, concurrency }),
    secrets: secrets
      .slice(0, secretsShownMax)
      .map(({ createdAt, expiresAt }) => withIsoTimes({ createdAt, expiresAt })),
    ...withIsoTimes({ pending: backlog.pending, oldestPendingAt: backlog.oldestAt }),
  }
}
