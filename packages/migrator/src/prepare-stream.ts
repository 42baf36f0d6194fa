import { setTimeout as wait } from 'node:timers/promises'
import { streamKeeper } from '@backoffice/contracts'
import type { Logger } from '@backoffice/process'
import { connectNats, makeStream } from '@backoffice/service-runtime/internal'
import { type MigratorConfig, streamSettingsFrom } from './config.ts'

const pauseMs = 500

/**
 * Makes the stream EVENTS and its consumers, or changes them to what this release needs. A cluster that has just started
 * needs a while to agree on a leader, so whatever fails is tried again for as long as the settings say.
 * @throws the last reason
 */
export async function prepareStream(config: MigratorConfig, log: Logger): Promise<void> {
  const deadline = performance.now() + config.NATS_WAIT_MS
  const attemptsMax = Math.max(1, Math.ceil(config.NATS_WAIT_MS / pauseMs))
  const connection = await connectNats({ ...config, NATS_USER: streamKeeper }, { name: 'migrate', log, attemptsMax })
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await makeStream(connection, streamSettingsFrom(config), log)
      } catch (error) {
        if (performance.now() + pauseMs > deadline) throw error
        if (attempt === 1) log.warn({ err: error }, 'the stream cannot be made yet; it is tried again')
        await wait(pauseMs)
      }
    }
  } finally {
    await connection.close()
  }
}
