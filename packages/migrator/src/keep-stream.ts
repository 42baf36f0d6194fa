import { createLogger, loadConfig, StreamKeeper } from '@backoffice/service-runtime/client'
import { streamConfig, streamSettingsFrom } from './config.ts'

// The keeper of the stream: makes it again when NATS has lost it, for as long as it runs.
try {
  const config = loadConfig(streamConfig, process.env)
  const log = createLogger('streams', config.LOG_LEVEL)
  const keeper = await StreamKeeper.start(config, streamSettingsFrom(config), log)
  log.info('keeping the stream')
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stopping = true
      void keeper.stop()
    })
  }
  const reason = await keeper.closed()
  // The connection reconnects for ever by itself, so this is no outage.
  if (!stopping) throw reason ?? new Error('the connection to NATS is closed')
} catch (err) {
  createLogger('streams', 'info').fatal({ err }, 'the stream is not kept')
  process.exitCode = 1
}
