import type { ServiceName } from '@backoffice/contracts'
import { gateway } from '@backoffice/gateway'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import type { Migration } from '@backoffice/service-runtime/internal'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'

/** Everything that has a schema. */
export const services: readonly { readonly name: ServiceName; readonly migrations: readonly Migration[] }[] = [
  gateway,
  players,
  wallet,
  payments,
  webhooks,
]
