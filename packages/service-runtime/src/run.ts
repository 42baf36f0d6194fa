import type { ServiceName } from '@backoffice/contracts'
import { loadConfig, runProcess } from '@backoffice/process'
import type { TProperties } from '@sinclair/typebox'
import { type Service, startService } from './service.ts'

/** Runs a service as this process. */
export async function runService<S extends ServiceName, P extends TProperties, O, A>(
  service: Service<S, P, O, A>,
): Promise<void> {
  await runProcess(() => startService(service, loadConfig(service.configuration, process.env) as never), {
    // A connection reconnects by itself, for ever. If it did close, the process would look alive and hear nothing.
    broken: async ({ natsClosed }) => ({ message: 'the connection to NATS is closed', err: await natsClosed }),
  })
}
