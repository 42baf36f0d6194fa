import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeCertificate } from '@backoffice/test-kit'
import t from 'tap'
import { natsServerBinary } from '../src/nats-server-binary.ts'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('../../../deploy/nats', import.meta.url))
const users = ['GATEWAY', 'PLAYERS', 'WALLET', 'PAYMENTS', 'WEBHOOKS', 'ALICE', 'BOB']
const passwords = Object.fromEntries(users.map((user) => [`NATS_PASSWORD_${user}`, 'secret']))

t.test('nats-server understands the main file of every environment', async (t) => {
  const server = await natsServerBinary()
  const version = (await run(server, ['--version'])).stdout
  const dir = t.testdir()
  cpSync(folder, dir, { recursive: true })
  const { certFile, keyFile } = await makeCertificate(dir, 'nats')
  const files: Readonly<Record<string, string>> = { 'tls.crt': certFile, 'ca.crt': certFile, 'tls.key': keyFile }
  for (const file of ['single.conf', 'cluster.conf']) {
    const path = join(dir, file)
    let text = readFileSync(path, 'utf8').replace(/\/etc\/nats-tls\/([a-z.]+)/g, (_, name) => files[name] ?? name)
    // The one setting that Debian's 2.9 does not know and the cluster must have.
    if (version.includes('v2.9.')) text = text.replace(/^\s*sync_interval: always$/m, '')
    writeFileSync(path, text)
    const env = { ...process.env, ...passwords, NATS_SERVER_NAME: 'nats-0' }
    const { stderr } = await run(server, ['-t', '-c', path], { env })
    t.match(stderr, /is valid/, file)
  }
})
