import {
  apiVersion,
  type EventMessage,
  invalid,
  operations,
  Rejection,
  type Scope,
  secretsShownMax,
  type WebhookEndpoint,
  type WebhookEndpointSummary,
} from '@backoffice/contracts'
import type { SecretBox } from '@backoffice/database/vault'
import { hourMs } from '@backoffice/process'
import { handle, type ReadDb, type Tools, toPage, withIsoTimes } from '@backoffice/service-runtime'
import { findBacklog, insertTestDelivery, withholdDeliveries } from '../deliveries/records.ts'
import { RefusedAddressError } from '../sending/fault-words.ts'
import {
  checkedAddresses,
  checkReceiverUrl,
  type ResolveHost,
  type Send,
  type SendingPolicy,
} from '../sending/sender.ts'
import { type BreakerSettings, disabledEndpoint, endpointId, signatureHeaders, withUrl } from './endpoint.ts'
import {
  changeEndpoint,
  cursorOf,
  decryptSecrets,
  type EndpointRow,
  ensureEndpoints,
  findEndpoint,
  isFailing,
  type ListedEndpoint,
  listEndpoints as list,
  loadSecrets,
  lockSeen,
  placeOf,
  provisionSecret,
  rewrapStoredSecrets,
  rotateSecret,
  toEndpoint,
} from './records.ts'

/** An endpoint as the team sees it, with what waits for it. */
async function describeEndpoint(
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
const summarizeEndpoint = (row: ListedEndpoint, settings: BreakerSettings): WebhookEndpointSummary => ({
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

export const provisionWebhook = (box: SecretBox) =>
  handle(operations.webhooks.provisionWebhook, async ({ scope }, { db, now }) => {
    await ensureEndpoints(db, [scope], now)
    return { webhookSecret: await provisionSecret(db, { endpointId: endpointId(scope), box, now }) }
  })

export const setWebhookUrl = ({
  policy,
  resolve,
  breaker: settings,
}: {
  readonly policy: SendingPolicy
  readonly resolve: ResolveHost
  readonly breaker: BreakerSettings
}) =>
  handle(operations.webhooks.setWebhookUrl, {
    async prepare({ input }) {
      const { url, fault } = checkReceiverUrl(input.url, policy)
      if (fault !== null) throw new Rejection('WEBHOOK_URL_REFUSED', { reason: fault })
      try {
        await checkedAddresses(url, resolve, policy)
      } catch (error) {
        if (error instanceof RefusedAddressError) throw new Rejection('WEBHOOK_URL_REFUSED', { reason: error.message })
        // The name may not exist yet, or its name servers may be unavailable. Every attempt resolves it again.
      }
    },

    async execute({ input }, { db, now, changed }) {
      const row = await lockSeen(db, input)
      changed({ field: 'url', before: row.url ?? null, after: input.url })
      // A row without a secret belongs to an operator that is still being made.
      if ((await loadSecrets(db, [row.id], now)).length === 0) throw new Rejection('OPERATOR_NOT_FOUND')
      const changedEndpoint = withUrl(toEndpoint(row, settings), input.url, { settings, now })
      return describeEndpoint(db, await changeEndpoint(db, row, changedEndpoint, settings), { settings, now })
    },
  })

export const showWebhook = (settings: BreakerSettings) =>
  handle(operations.webhooks.showWebhook, async ({ input }, { db, now }) => {
    const endpoint = await findEndpoint(db, input)
    if (endpoint === null) throw new Rejection('OPERATOR_NOT_FOUND')
    return describeEndpoint(db, endpoint, { settings, now })
  })

export const listEndpoints = (settings: BreakerSettings) =>
  handle(operations.webhooks.listEndpoints, async ({ input }, { db }) => {
    const { environment, failing = false, after, limit } = input
    const place = placeOf(after)
    if (place === undefined) throw invalid('body', '/after', 'is no cursor of this list')
    const rows = await list(db, { environment, failing, place, limit: limit + 1 })
    const { data, nextCursor } = toPage(rows, limit, cursorOf)
    return { data: data.map((row) => summarizeEndpoint(row, settings)), nextCursor }
  })

const overlapHoursDefault = 24

export const rotateWebhookSecret = (box: SecretBox) =>
  handle(operations.webhooks.rotateWebhookSecret, {
    async execute({ input }, { db, now }) {
      const endpoint = await lockSeen(db, input)
      const overlapMs = Math.round((input.overlapHours ?? overlapHoursDefault) * hourMs)
      const { secret, formerExpiresAt } = await rotateSecret(db, { endpointId: endpoint.id, box, now, overlapMs })
      return { webhookSecret: secret, formerSecretExpiresAt: formerExpiresAt?.toISOString() ?? null }
    },
    stored: (reply) => ({ ...reply, webhookSecret: null }),
  })

export const disableWebhook = (settings: BreakerSettings) =>
  handle(operations.webhooks.disableWebhook, {
    async execute({ input }, { db, now, changed }) {
      const row = await lockSeen(db, input)
      if (row.enabled) changed({ field: 'enabled', before: 'true', after: 'false' })
      const off = disabledEndpoint(toEndpoint(row, settings), { reason: input.reason, now })
      const changedRow = await changeEndpoint(db, row, off, settings)
      await withholdDeliveries(db, row.id, now)
      return describeEndpoint(db, changedRow, { settings, now })
    },
  })

export const rewrapWebhookSecrets = (box: SecretBox) =>
  handle(operations.webhooks.rewrapWebhookSecrets, {
    execute: async (_, { db }) => ({ rewrapped: await rewrapStoredSecrets(db, box) }),
  })

/** Each test waits for the receiver's reply, so one operator may run only so many at once. */
const testsAtOnceMax = 5

/** Makes one attempt at once, whatever schedule and breaker say, because it shows how the receiver is now. */
export const testWebhook = ({ box, send }: { readonly box: SecretBox; readonly send: Send }) => {
  const underWay = new Map<string, number>()
  return handle(operations.webhooks.testWebhook, async ({ scope }, { db, now, newId }) => {
    const endpoint = await findEndpoint(db.reader, scope)
    if (endpoint?.url == null) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    const { id: endpointId, url } = endpoint
    const secrets = decryptSecrets(await loadSecrets(db.reader, [endpointId], now), box)
    if (secrets.length === 0) throw new Rejection('WEBHOOK_NOT_CONFIGURED')
    const running = underWay.get(endpointId) ?? 0
    if (running >= testsAtOnceMax) throw new Rejection('RATE_LIMITED')
    underWay.set(endpointId, running + 1)
    try {
      const event = testEvent(scope, { now, newId })
      const body = Buffer.from(JSON.stringify(event))
      const headers = signatureHeaders({ eventId: event.id, body, secrets, now })
      const attempt = () => send({ endpointId, url, headers, body })
      const first = await attempt()
      const outcome = first.connectionLost === true ? await attempt() : first
      await insertTestDelivery(db, { event, body, url, startedAt: now, outcome })
      const { responseStatus, durationMs, error } = outcome
      return { eventId: event.id, delivered: error === null, responseStatus, durationMs, error }
    } finally {
      const left = (underWay.get(endpointId) ?? 1) - 1
      if (left > 0) underWay.set(endpointId, left)
      else underWay.delete(endpointId)
    }
  })
}

function testEvent(
  { environment, operatorId, brandId }: Scope,
  { now, newId }: Tools['given'],
): EventMessage<'webhook.test'> {
  return {
    id: newId('evt'),
    type: 'webhook.test',
    apiVersion,
    environment,
    operatorId,
    brandId,
    createdAt: now.toISOString(),
    data: { message: 'This is a test delivery.' },
  }
}
