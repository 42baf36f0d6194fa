import { loadConfig, runProcess } from '@backoffice/process'
import { startConsole } from './program.ts'
import { settings } from './settings.ts'

await runProcess(() => startConsole(loadConfig(settings, process.env)), {
  // A connection reconnects by itself, for ever. If it did close, the process would look alive and reach nobody.
  broken: async ({ natsClosed }) => ({ message: 'the connection to NATS is closed', err: await natsClosed }),
})
