import {
  type Clock,
  certificateFiles,
  createLogger,
  HttpListener,
  limitsMs,
  type RunningProcess,
  type StartedProgram,
  startProgram,
  systemClock,
  waitAtMost,
} from '@backoffice/process'
import { connectNats } from '@backoffice/rpc'
import { RecordedCalls, TeamVerifier, trustedTeam } from '@backoffice/team-access/identity'
import { createApp } from './http/app.ts'
import { Provider } from './identity/provider.ts'
import { type ConsoleSettings, checkedSettings } from './settings.ts'

export { type ConsoleSettings, checkedSettings, settings } from './settings.ts'

/** How long each step of stopping may take. */
const stoppingMsMax = 5_000

export interface RunningConsole extends RunningProcess, StartedProgram {
  readonly port: number
  /** Resolves when the connection to NATS has closed for good. */
  readonly natsClosed: Promise<unknown>
}

/** Starts the console: the team's pages in a browser, and the relay for the command line. */
export async function startConsole(config: ConsoleSettings, clock: Clock = systemClock): Promise<RunningConsole> {
  checkedSettings(config)
  const log = createLogger('console', config.LOG_LEVEL)
  const trusted = trustedTeam(config)
  const verifier = new TeamVerifier(trusted.identity, trusted.keys)
  const recorded = new RecordedCalls([trusted])
  const nats = await connectNats(config, { name: 'console', log })
  const stopping = new AbortController()
  const provider = new Provider(config)
  const app = await createApp({ config, clock, log, nats, verifier, recorded, provider, stopping: stopping.signal })
  const { CONSOLE_HOST: host, CONSOLE_PORT: port, CONSOLE_CONNECTIONS_MAX: connectionsMax } = config
  const listener = new HttpListener({ app, host, port, connectionsMax, certificate: certificateFiles(config), log })
  await listener.start()
  const program = await startProgram({
    log,
    settings: config,
    // While the provider is away, whoever is signed in works on. So it is not asked here.
    ready: () => isReachable(nats),
    leave: () => listener.leave(),
    stopping: [
      {
        what: 'requests',
        msMax: stoppingMsMax,
        stop() {
          // Pages that show live counts hold a response open.
          stopping.abort()
          return listener.stop()
        },
      },
      { what: 'NATS', msMax: stoppingMsMax, stop: () => nats.drain() },
    ],
  })
  return { ...program, log, port: listener.port, natsClosed: nats.closed() }
}

/** A broker that hangs keeps its connections open, so it must answer. */
async function isReachable(nats: Awaited<ReturnType<typeof connectNats>>): Promise<boolean> {
  let answered = false
  await waitAtMost(
    limitsMs.readiness,
    nats.flush().then(() => {
      answered = true
    }),
    () => {},
  )
  return answered && !nats.isClosed()
}
