import type { StreamKeeper as Keeper } from './stream-keeper.ts'

let keeper: Keeper | undefined
let stopping = false
// Before anything is loaded: as process 1 of a container it would otherwise not hear them until it has started.
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    stopping = true
    if (keeper === undefined) process.exit(0)
    void keeper.stop()
  })
}

const { bePatient, createLogger, loadConfig } = await import('@backoffice/process')
const { StreamKeeper } = await import('./stream-keeper.ts')
const { streamConfig, streamSettingsFrom } = await import('./config.ts')

// The keeper of the stream: makes it again when NATS has lost it, for as long as it runs.
try {
  bePatient(process.env)
  const config = loadConfig(streamConfig, process.env)
  const log = createLogger('streams', config.LOG_LEVEL)
  keeper = await StreamKeeper.start(config, streamSettingsFrom(config), log)
  log.info('watching over the event stream')
  const reason = await keeper.closed()
  // The connection reconnects for ever by itself, so this is no outage.
  if (!stopping) throw reason ?? new Error('the connection to NATS is closed')
} catch (err) {
  createLogger('streams', 'info').fatal({ err }, 'nobody watches over the event stream')
  process.exitCode = 1
}
