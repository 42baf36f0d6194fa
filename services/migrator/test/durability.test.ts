import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseRoles, streamKeeper } from '@backoffice/contracts'
import { freePort, natsServerBinary, natsServerVersion } from '@backoffice/local-stack'
import { createLogger, loadConfig } from '@backoffice/process'
import { eventually, postgres, temporaryFolder } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { migratorConfig } from '../src/config.ts'
import { runMigrationJob } from '../src/migration-job.ts'
import { prepareStream } from '../src/prepare-stream.ts'

const passwords = Object.fromEntries(databaseRoles.map((role) => [`DATABASE_PASSWORD_${role.toUpperCase()}`, 'any']))
const backends = { ...passwords, ADMIN_DATABASE_URL: await postgres(), NATS_PASSWORD: 'any', NATS_WAIT_MS: '0' }

/** @returns its settings for the Job */
async function startServer(t: Test, binary: string, ofJetStream = '') {
  const dir = temporaryFolder(t)
  const [port, monitoring] = [await freePort(), await freePort()]
  const configuration = `
    listen: "127.0.0.1:${port}"
    http: "127.0.0.1:${monitoring}"
    jetstream { store_dir: "${join(dir, 'jetstream')}", ${ofJetStream} }
    authorization { users = [ { user: ${streamKeeper}, password: "any" } ] }
  `
  writeFileSync(join(dir, 'nats.conf'), configuration)
  const child = spawn(binary, ['--config', join(dir, 'nats.conf')], { stdio: 'ignore' })
  t.teardown(() => {
    child.kill()
    return once(child, 'close')
  })
  const place = `http://localhost:${monitoring}`
  await eventually(async () => (await fetch(`${place}/healthz`)).ok)
  return { NATS_URL: `nats://127.0.0.1:${port}`, NATS_MONITORING_URL: place }
}

const prepare = (settings: Readonly<Record<string, string>>) =>
  prepareStream(loadConfig(migratorConfig, { ...backends, ...settings }), createLogger('test', 'silent'))

t.test('the Job refuses a PostgreSQL that may forget what it has committed', async (t) => {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  t.equal(await runMigrationJob({ ...backends, NATS_URL: 'nats://127.0.0.1:1' }, { write }), 1)
  t.match(lines.at(-1), /PostgreSQL may forget what it has committed: fsync is off, full_page_writes is off/)
})

t.test('the Job refuses a NATS whose acknowledgement is no promise, but in development', async (t) => {
  const settings = await startServer(t, await natsServerBinary())
  await t.rejects(prepare(settings), { message: /is not on the disk, without `sync_interval: always`: (127|\[::1)/ })
  await prepare({ ...settings, DEVELOPMENT: 'true' })
  const nobody = `http://localhost:${await freePort()}`
  await t.rejects(prepare({ ...settings, NATS_MONITORING_URL: nobody }), {
    message: /no NATS server says how it is set/,
  })
})

// Debian's 2.9 does not know the setting.
const skip = /v2\.9\./.test(await natsServerVersion(await natsServerBinary()))
t.test('a NATS that writes before it acknowledges is taken', { skip }, async (t) => {
  const settings = await startServer(t, await natsServerBinary(), 'sync_interval: always')
  await prepare({ ...settings, NATS_MONITORING_URL: `${settings.NATS_MONITORING_URL},localhost:${await freePort()}` })
  t.pass('a server that is away holds up nobody')
})
