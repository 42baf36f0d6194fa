import {
  type Clock,
  loadConfig,
  type RunningService,
  runService,
  serviceConfig,
  startService,
} from '@backoffice/service-runtime'
import { type Static, Type } from '@sinclair/typebox'
import { handlers } from './operations/index.ts'
import { entities } from './storage/entities.ts'
import { Ledger } from './storage/ledger.ts'

export const walletConfig = Type.Composite([serviceConfig, Type.Object({})])
export type WalletConfig = Static<typeof walletConfig>

/** Starts the wallet service. */
export function start(config: WalletConfig, options: { readonly clock?: Clock } = {}): Promise<RunningService> {
  return startService({
    name: 'wallet',
    config,
    entities,
    operations: (context) => handlers(new Ledger(context)),
    clock: options.clock,
  })
}

if (import.meta.main) await runService(() => start(loadConfig(walletConfig, process.env)))
