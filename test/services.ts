import { gateway } from '@backoffice/gateway'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { reconciler } from '@backoffice/reconciler'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'

/** All of them, for a test bed. */
export const services = { gateway, players, wallet, payments, webhooks, reconciler }
