import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { type Teardown, type TestBedOptions, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'
import { gateway } from '../src/service.ts'

/** The gateway, and every service that it calls for an operator. @param settings of the gateway */
export const gatewayBed = (
  t: Teardown,
  settings: Record<string, string | number | boolean> = {},
  clocks: Pick<TestBedOptions, 'time' | 'clock' | 'servers'> = {},
) => testBed(t, { gateway, players, wallet, payments, webhooks }, { config: { gateway: settings }, ...clocks })
