import { streamKeeper } from '@backoffice/contracts'
import { type Logger, retry } from '@backoffice/process'
import { connectNats } from '@backoffice/rpc'
import { type MigratorConfig, streamSettingsFrom } from './config.ts'
import { makeStream } from './stream-keeper.ts'

const pauseMs = 500

/**
 * Makes the stream EVENTS and its consumers, or changes them to what this release needs. A cluster that has just started
 * needs a while to agree on a leader, so whatever fails is tried again for as long as the settings say.
 * @throws the last reason
 */
export async function prepareStream(config: MigratorConfig, log: Logger): Promise<void> {
  const untilMs = performance.now() + config.NATS_WAIT_MS
  const attemptsMax = Math.max(1, Math.ceil(config.NATS_WAIT_MS / pauseMs))
  const connection = await connectNats({ ...config, NATS_USER: streamKeeper }, { name: 'migrate', log, attemptsMax })
  try {
    await retry(() => makeStream(connection, streamSettingsFrom(config), log), {
      pauseMs,
      untilMs,
      while(error, attempt) {
        if (attempt === 1) log.warn({ err: error }, 'the stream cannot be made yet; it is tried again')
        return true
      },
    })
  } finally {
    await connection.close()
  }
}
