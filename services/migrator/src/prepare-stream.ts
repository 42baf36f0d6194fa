import { isIPv6 } from 'node:net'
import { streamKeeper } from '@backoffice/contracts'
import { type Logger, limitsMs, retry } from '@backoffice/process'
import { connectNats } from '@backoffice/rpc'
import { type MigratorConfig, streamSettingsFrom } from './config.ts'
import { addressesOf, targetsIn } from './reach.ts'
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
    const prepare = async () => {
      if (!config.DEVELOPMENT) await assertSynced(config.NATS_MONITORING_URL, log)
      await makeStream(connection, streamSettingsFrom(config), log)
    }
    await retry(prepare, {
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

/**
 * Asks each NATS server whether what it has acknowledged is on the disk. No connection of a client says so. A server that does
 * not answer holds up no release: the others have the stream.
 * @throws naming the servers that are set otherwise, or when none answers
 */
async function assertSynced(places: string | undefined, log: Logger): Promise<void> {
  if (places === undefined) {
    log.warn('nobody has asked whether NATS keeps what it acknowledged on the disk: NATS_MONITORING_URL is not set')
    return
  }
  const ofTarget = async ({ host, port }: { readonly host: string; readonly port: number }) =>
    (await addressesOf(host)).map((address) => (isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`))
  const servers = (await Promise.all(targetsIn(places).map(ofTarget))).flat()
  const answers = await Promise.all(servers.map(async (server) => ({ server, synced: await isSynced(server, log) })))
  const wrong = answers.filter(({ synced }) => synced === false).map(({ server }) => server)
  if (wrong.length > 0)
    throw new Error(`what NATS acknowledges is not on the disk, without \`sync_interval: always\`: ${wrong.join(', ')}`)
  if (!answers.some(({ synced }) => synced)) throw new Error(`no NATS server says how it is set: ${places}`)
}

/** @returns null when it does not answer. A server before 2.10 knows no such setting, and waits for up to two minutes. */
async function isSynced(server: string, log: Logger): Promise<boolean | null> {
  try {
    const response = await fetch(`http://${server}/varz`, { signal: AbortSignal.timeout(limitsMs.jetStream) })
    const { jetstream } = (await response.json()) as { jetstream?: { config?: { sync_always?: boolean } } }
    return jetstream?.config?.sync_always === true
  } catch (err) {
    log.warn({ err, server }, 'a NATS server does not say how it is set')
    return null
  }
}
