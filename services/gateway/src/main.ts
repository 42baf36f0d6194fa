import {
  type Clock,
  loadConfig,
  type RunningService,
  runService,
  secretBoxFrom,
  startService,
} from '@backoffice/service-runtime'
import { type GatewayConfig, gatewayConfig } from './config.ts'
import { certificateFiles } from './http/certificate.ts'
import { type HttpListener, listen } from './http/listen.ts'
import { handlers } from './operations/index.ts'
import { entities } from './storage/entities.ts'

export { gatewayConfig } from './config.ts'

const hourMs = 3_600_000

export interface RunningGateway extends RunningService {
  readonly baseUrl: string
}

/** Starts the gateway: the HTTP server, and the team's operations on operators. */
export async function start(config: GatewayConfig, options: { readonly clock?: Clock } = {}): Promise<RunningGateway> {
  // What is wrong is said before anything is connected.
  certificateFiles(config)
  const secrets = secretBoxFrom(config)
  let http: HttpListener | undefined
  const service = await startService({
    name: 'gateway',
    config,
    entities,
    clock: options.clock,
    operations: () => handlers(secrets),
    readyWithoutBackends: true,
    // An expired claim is kept a day longer: one of unknown outcome is still to be resolved by whoever uses its key next.
    retentions: [{ table: 'claim', column: 'expires_at', keepMs: 24 * hourMs }],
    background: async (shared) => {
      http = await listen(config, shared, secrets)
      return [http]
    },
  })
  return { ...service, baseUrl: http?.baseUrl ?? '' }
}

if (import.meta.main) await runService(() => start(loadConfig(gatewayConfig, process.env)))
