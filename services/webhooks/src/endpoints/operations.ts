import { invalid, operations, Rejection } from '@backoffice/contracts'
import { hourMs } from '@backoffice/process'
import { handle, toPage } from '@backoffice/service-runtime'
import type { SecretBox } from '@backoffice/vault'
import { withholdDeliveries } from '../deliveries/records.ts'
import { RefusedAddressError } from '../sending/fault-words.ts'
import { checkedAddresses, checkReceiverUrl, type ResolveHost, type SendingPolicy } from '../sending/sender.ts'
import { type BreakerSettings, disabledEndpoint, endpointId, withUrl } from './endpoint.ts'
import {
  changeEndpoint,
  cursorOf,
  ensureEndpoints,
  findEndpoint,
  listEndpoints as list,
  loadSecrets,
  lockSeen,
  placeOf,
  provisionSecret,
  rewrapStoredSecrets,
  rotateSecret,
  toEndpoint,
} from './records.ts'
import { describeEndpoint, summarizeEndpoint } from './views.ts'

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
