import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrokerUser, brokerUsers, streamBytesMin } from '@backoffice/contracts'
import { Child, freePort, natsServerBinary, startNats } from '@backoffice/local-stack'
import { StreamKeeper } from '@backoffice/migrator/stream'
import { createLogger } from '@backoffice/process'
import type { Teardown } from '@backoffice/test-kit'

const password = 'secret'

export interface OwnBroker {
  /** Where JetStream keeps what it must not lose. */
  readonly store: string
  /** With which a service of a bed finds this broker instead of the bed's. */
  readonly environment: { readonly NATS_URL: string; readonly NATS_PASSWORD: string }
  stop(): Promise<void>
  /** Again on the same port and disk. */
  start(): Promise<void>
  /** It keeps its connections and answers nothing more. */
  freeze(): void
  thaw(): void
}

/** A broker of a test's own, with a keeper of its stream, because it goes away and loses its disk. It ends with `t`. */
export async function startOwnBroker(t: Teardown): Promise<OwnBroker> {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-broker-'))
  const port = await freePort()
  const passwords = Object.fromEntries(brokerUsers.map((name) => [name, password])) as Record<BrokerUser, string>
  const start = () => startNats({ dir, port, passwords })
  let nats = await start()
  const login = { NATS_URL: nats.url, NATS_PASSWORD: password }
  const settings = { replicas: 1, bytesMax: streamBytesMin }
  const keeper = await StreamKeeper.start(login, settings, createLogger('streams', 'silent'))
  t.teardown(async () => {
    await keeper.stop()
    process.kill(nats.child.pid, 'SIGCONT')
    await nats.child.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  return {
    store: join(dir, 'jetstream'),
    environment: { NATS_URL: nats.url, NATS_PASSWORD: password },
    async stop() {
      await nats.child.stop()
    },
    async start() {
      nats = await start()
    },
    freeze: () => process.kill(nats.child.pid, 'SIGSTOP'),
    thaw: () => process.kill(nats.child.pid, 'SIGCONT'),
  }
}

/** A broker that permits everything to everybody. It ends with `t`. @returns its URL */
export async function startOpenBroker(t: Teardown): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-open-broker-'))
  const port = await freePort()
  const child = await Child.start({
    name: 'nats-server',
    command: await natsServerBinary(),
    args: ['--addr', '127.0.0.1', '--port', String(port), '--jetstream', '--store_dir', dir],
    env: process.env,
    logFile: join(dir, 'log'),
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
  })
  t.teardown(async () => {
    await child.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  return `nats://127.0.0.1:${port}`
}
