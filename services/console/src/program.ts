import type { AddressInfo } from 'node:net'
import {
  type Clock,
  certificateFiles,
  createLogger,
  flushTelemetry,
  keepCertificateFresh,
  type RunningProcess,
  startHealthServer,
  systemClock,
  useCertificate,
  waitAtMost,
} from '@backoffice/process'
import { connectNats } from '@backoffice/service-runtime/client'
import { identityOf, TeamVerifier } from '@backoffice/team-identity'
import { createApp } from './http/app.ts'
import { Provider } from './identity/provider.ts'
import { checkedSettings, type Settings } from './settings.ts'

export { checkedSettings, type Settings, settings } from './settings.ts'

/** How long each step of stopping may take. */
const stoppingMsMax = 5_000

export interface RunningConsole extends RunningProcess {
  readonly port: number
  readonly healthPort: number
  /** Resolves when the connection to NATS has closed for good. */
  readonly natsClosed: Promise<unknown>
}

/** Starts the console: the team's pages in a browser, and the relay for the command line. */
export async function startConsole(config: Settings, clock: Clock = systemClock): Promise<RunningConsole> {
  checkedSettings(config)
  const log = createLogger('console', config.LOG_LEVEL)
  const verifier = new TeamVerifier(identityOf(config))
  const nats = await connectNats(config, { name: 'console', log })
  const stopping = new AbortController()
  const provider = new Provider(config)
  const app = await createApp({ config, clock, log, nats, verifier, provider, stopping: stopping.signal })
  const certificate = certificateFiles(config)
  if (certificate !== undefined) await useCertificate(app.server, certificate)
  const renewal = certificate === undefined ? undefined : keepCertificateFresh(app.server, certificate, { log })
  await app.listen({ host: config.CONSOLE_HOST, port: config.CONSOLE_PORT })

  let draining: Promise<void> | undefined
  const health = await startHealthServer({
    host: config.HEALTH_HOST,
    port: config.HEALTH_PORT,
    // While the provider is away, whoever is signed in works on. So it is not asked here.
    ready: async () => draining === undefined && (await isReachable(nats)),
  })
  const { port } = app.server.address() as AddressInfo
  renewal?.start()
  log.info({ port, healthPort: health.port }, 'started')

  async function stop(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, config.DRAIN_DELAY_MS))
    const late = (what: string) => () => log.warn({ what }, 'stopped without waiting any longer')
    // Pages that show live counts hold a response open.
    stopping.abort()
    await renewal?.stop()
    await waitAtMost(stoppingMsMax, app.close(), late('requests'))
    await waitAtMost(stoppingMsMax, nats.drain(), late('NATS'))
    await flushTelemetry()
    await health.close()
    log.info('drained')
  }
  return {
    log,
    port,
    healthPort: health.port,
    natsClosed: nats.closed(),
    drain() {
      draining ??= stop()
      return draining
    },
  }
}

const pingMs = 2_000

/** A broker that hangs keeps its connections open, so it must answer. */
async function isReachable(nats: Awaited<ReturnType<typeof connectNats>>): Promise<boolean> {
  let answered = false
  await waitAtMost(
    pingMs,
    nats.flush().then(() => {
      answered = true
    }),
    () => {},
  )
  return answered && !nats.isClosed()
}
