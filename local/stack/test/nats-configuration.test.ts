import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brokerUsers } from '@backoffice/contracts'
import { makeCertificate } from '@backoffice/test-kit'
import t from 'tap'
import { natsServerBinary, renderConfiguration } from '../src/nats.ts'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('../../../deploy/nats', import.meta.url))
const passwords = Object.fromEntries(brokerUsers.map((user) => [`NATS_PASSWORD_${user.toUpperCase()}`, 'secret']))

t.test('nats-server understands the main file of every environment', async (t) => {
  const server = await natsServerBinary()
  const version = (await run(server, ['--version'])).stdout
  const dir = t.testdir({ 'nats-store': { 'key.conf': 'key: "secret"' } })
  cpSync(folder, join(dir, 'nats'), { recursive: true })
  const { certFile, keyFile } = await makeCertificate(dir, 'nats')
  const files: Readonly<Record<string, string>> = { 'tls.crt': certFile, 'ca.crt': certFile, 'tls.key': keyFile }
  for (const file of ['single.conf', 'cluster.conf']) {
    const path = join(dir, 'nats', file)
    let text = readFileSync(path, 'utf8').replace(
      /\/etc\/(?:nats-tls|authority)\/([a-z.]+)/g,
      (_, name) => files[name] ?? name,
    )
    t.match(text, /^ {2}sync_interval: always$/m, 'an acknowledged event is on disk')
    if (file === 'cluster.conf')
      t.match(text, /^tls \{[^}]*^ {2}verify_and_map: true$/m, 'a password opens nothing without its certificate')
    // The one setting that Debian's 2.9 does not know.
    if (version.includes('v2.9.')) text = text.replace(/^\s*sync_interval: always$/m, '')
    writeFileSync(path, text)
    const env = { ...process.env, ...passwords, NATS_SERVER_NAME: 'nats-0' }
    const { stderr } = await run(server, ['-t', '-c', path], { env })
    t.match(stderr, /is valid/, file)
  }
})

t.test('npm start has every acknowledged event on disk, where the server can do that', async (t) => {
  const options = { dir: '/tmp/x', passwords: {} as never }
  for (const [version, synced] of [
    ['nats-server: v2.9.10', false],
    ['nats-server: v2.10.0', true],
    ['nats-server: v2.12.1', true],
    ['nats-server: v3.0.0-preview', true],
    ['nats-server: unknown', false],
  ] as const)
    t.equal(renderConfiguration(options, { port: 4222, version }).includes('sync_interval: always'), synced, version)
})
