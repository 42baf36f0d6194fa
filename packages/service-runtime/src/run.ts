import type { ServiceName } from '@backoffice/contracts'
import type { TProperties } from '@sinclair/typebox'
import { loadConfig } from './process/config.ts'
import { type RunningService, type Service, startService } from './service.ts'

/** Runs a service as this process: drains on SIGTERM and SIGINT, and exits with 1 when it cannot start. */
export async function runService<S extends ServiceName, P extends TProperties, O, A>(
  service: Service<S, P, O, A>,
): Promise<void> {
  let running: RunningService | undefined
  let ending = false
  const end = async () => {
    ending = true
    // Before it has started there is nothing to finish.
    if (running === undefined) process.exit(0)
    try {
      await running.drain()
      process.exit(0)
    } catch (error) {
      running.log.error({ err: error }, 'could not drain')
      process.exit(1)
    }
  }
  // Installed first, so that the process obeys signals from its first moment on.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void end())
  try {
    running = await startService(service, loadConfig(service.configuration, process.env) as never)
    const { natsClosed, log } = running
    // A connection reconnects by itself, for ever. If it did close, the process would look alive and hear nothing.
    void natsClosed.then((err) => {
      if (ending) return
      log.fatal({ err }, 'the connection to NATS is closed')
      process.exit(1)
    })
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    process.exit(1)
  }
}
