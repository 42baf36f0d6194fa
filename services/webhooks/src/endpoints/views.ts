import { secretsShownMax, type WebhookEndpoint, type WebhookEndpointSummary } from '@backoffice/contracts'
import { type ReadDb, withIsoTimes } from '@backoffice/service-runtime'
import { findBacklog } from '../deliveries/records.ts'
import type { BreakerSettings } from './endpoint.ts'
import { type EndpointRow, isFailing, type ListedEndpoint, loadSecrets, toEndpoint } from './records.ts'

/** An endpoint as the team sees it, with what waits for it. */
export async function describeEndpoint(
  db: ReadDb,
  row: EndpointRow,
  { settings, now }: { readonly settings: BreakerSettings; readonly now: Date },
): Promise<WebhookEndpoint> {
  const [secrets, backlog] = await Promise.all([loadSecrets(db, [row.id], now), findBacklog(db, row.id)])
  return {
    ...stateOf(row, settings),
    secrets: secrets
      .slice(0, secretsShownMax)
      .map(({ createdAt, expiresAt }) => withIsoTimes({ createdAt, expiresAt })),
    ...withIsoTimes({ pending: backlog.pending, oldestPendingAt: backlog.oldestAt }),
  }
}

/** An endpoint as a list of the team's shows it. */
export const summarizeEndpoint = (row: ListedEndpoint, settings: BreakerSettings): WebhookEndpointSummary => ({
  ...stateOf(row, settings),
  failing: isFailing(row),
  ...withIsoTimes({ pending: row.pending, oldestPendingAt: row.oldestPendingAt }),
})

function stateOf(row: EndpointRow, settings: BreakerSettings) {
  const { breaker, lastFault, ...endpoint } = toEndpoint(row, settings)
  const { state, consecutiveFailures, failingSince, openUntil, concurrency } = breaker
  return {
    operatorId: row.operatorId,
    environment: row.environment,
    ...withIsoTimes(endpoint),
    breaker: withIsoTimes({ state, consecutiveFailures, failingSince, retryAt: openUntil, concurrency }),
    lastFault: lastFault && withIsoTimes(lastFault),
  }
}
