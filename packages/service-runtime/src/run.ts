import type { ServiceName } from '@backoffice/contracts'
import type { TProperties } from '@sinclair/typebox'
import { loadConfig } from './process/config.ts'
import { type RunningService, type Service, startService } from './service.ts'

/**
 * Runs a service as this process: drains on SIGTERM and SIGINT, and exits with 1 when it cannot start. A fault that no
 * task handles is a bug: it is logged, what is under way is finished, and the process exits with 1, to be started again.
 */
export async function runService<S extends ServiceName, P extends TProperties, O, A>(
  service: Service<S, P, O, A>,
): Promise<void> {
  let running: RunningService | undefined
  let ending = false
  const end = async (status: 0 | 1) => {
    ending = true
    // Before it has started there is nothing to finish.
    if (running === undefined) process.exit(status)
    try {
      await running.drain()
      process.exit(status)
    } catch (error) {
      running.log.error({ err: error }, 'could not drain')
      process.exit(1)
    }
  }
  // Installed first, so that the process obeys signals from its first moment on.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void end(0))
  // Of a promise that was rejected and that nobody waits for, too: Node raises it as an exception.
  process.on('uncaughtException', (err: unknown, origin) => {
    if (running === undefined) report(err)
    else running.log.fatal({ err, origin }, 'a fault that nothing handled ends the process')
    if (!ending) void end(1)
  })
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
    report(error)
    process.exit(1)
  }
}

function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
}
