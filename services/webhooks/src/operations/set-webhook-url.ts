import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import type { BreakerSettings } from '../domain/breaker.ts'
import { withUrl } from '../domain/endpoint.ts'
import { RefusedAddressError } from '../sending/fault-words.ts'
import { checkReceiverUrl, type SendingPolicy } from '../sending/receiver-url.ts'
import { checkedAddresses, type ResolveHost } from '../sending/resolve.ts'
import { changeEndpoint, lockEndpoint, toEndpoint } from '../storage/endpoints.ts'
import { loadSecrets } from '../storage/secrets.ts'
import { describeEndpoint } from '../views/endpoint.ts'

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
      const row = await lockEndpoint(db, input)
      changed({ field: 'url', before: row.url ?? null, after: input.url })
      // A row without a secret belongs to an operator that is still being made.
      if ((await loadSecrets(db, [row.id], now)).length === 0) throw new Rejection('OPERATOR_NOT_FOUND')
      await changeEndpoint(db, row, withUrl(toEndpoint(row, settings), input.url, { settings, now }), settings)
      return describeEndpoint(db, row, { settings, now })
    },
  })
