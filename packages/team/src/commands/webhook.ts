import { operations, pendingCountedMax, type WebhookEndpoint } from '@backoffice/contracts'
import { printRecord, printSection } from '../output.ts'
import { row } from '../row.ts'

const { setWebhookUrl, showWebhook, listEndpoints, rotateWebhookSecret, disableWebhook } = operations.webhooks

export const webhook = [
  row({ path: 'webhook set', operation: setWebhookUrl, show: showEndpoint }),
  row({ path: 'webhook show', operation: showWebhook, show: showEndpoint }),
  row({
    path: 'webhook list',
    operation: listEndpoints,
    columns: [
      ['operator', 'operatorId'],
      'url',
      ['state', ({ enabled, breaker }) => (enabled ? breaker.state : 'disabled')],
      ['failures', ({ breaker }) => breaker.consecutiveFailures],
      ['failing since', ({ breaker }) => breaker.failingSince],
      ['next try', ({ breaker }) => breaker.retryAt],
      ['waiting', ({ pending }) => (pending < pendingCountedMax ? pending : `${pending} or more`)],
      ['oldest since', 'oldestPendingAt'],
      ['disabled because', 'disabledReason'],
    ],
  }),
  row({
    path: 'webhook rotate-secret',
    operation: rotateWebhookSecret,
    confirm: ({ operatorId, environment }) => `Rotate the webhook secret of ${operatorId} in ${environment}?`,
  }),
  row({ path: 'webhook disable', operation: disableWebhook, show: showEndpoint }),
]

function showEndpoint({ secrets, breaker, ...endpoint }: WebhookEndpoint): void {
  const { state, consecutiveFailures, retryAt } = breaker
  printRecord({ ...endpoint, breaker: state, consecutiveFailures, retryAt })
  printSection('secrets', secrets, [
    ['created', 'createdAt'],
    ['signs until', ({ expiresAt }) => expiresAt ?? 'replaced'],
  ])
}
