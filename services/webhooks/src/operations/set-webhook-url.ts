import { operations, Rejection } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import type { WebhooksParts } from '../parts.ts'
import { RefusedAddressError } from '../sending/fault-words.ts'
import { checkReceiverUrl } from '../sending/receiver-url.ts'
import { checkedAddresses } from '../sending/resolve.ts'
import { endpointId } from '../storage/endpoint-id.ts'
import { applyUrl, describeEndpoint, lockEndpointOf } from '../storage/endpoints.ts'
import { loadSecrets } from '../storage/secrets.ts'

export const setWebhookUrl = ({ policy, resolve, breaker: settings }: WebhooksParts) =>
  command(operations.webhooks.setWebhookUrl, {
    async prepare({ input }) {
      const { url, fault } = checkReceiverUrl(input.url, policy)
      if (fault !== null) throw new Rejection('WEBHOOK_URL_REFUSED', { reason: fault })
      try {
        await checkedAddresses(url, resolve, policy)
      } catch (error) {
        if (error instanceof RefusedAddressError) throw new Rejection('WEBHOOK_URL_REFUSED', { reason: error.message })
        // The name may not exist yet, or its servers be away: every attempt asks again.
      }
    },

    async execute({ input }, { em, sql, now }) {
      const endpoint = await lockEndpointOf(em, input)
      // A row without a secret only waits for its operator to be made.
      if ((await loadSecrets(sql, endpointId(input), now)).length === 0) throw new Rejection('OPERATOR_NOT_FOUND')
      applyUrl(endpoint, input.url, settings, now)
      await em.flush()
      return describeEndpoint(sql, endpoint, { settings, now })
    },
  })
