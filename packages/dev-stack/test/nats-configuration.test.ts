import { execFile } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brokerUsers } from '@backoffice/contracts'
import { makeCertificate } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { natsServerBinary, natsServerNamed, natsServerWarning, renderConfiguration } from '../src/nats.ts'

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

/** Where it is looked for whatever PATH says. */
const isInSystem = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'].some((folder) =>
  existsSync(join(folder, 'nats-server')),
)

/** A machine with these programs: `found` on PATH, and an apt that has `later` in the next release and `own` in this one. */
async function binaryOn(
  t: Test,
  { found, later, own }: { readonly found?: string; readonly later?: string; readonly own?: string },
) {
  const server = (version: string) => `#!/bin/sh\necho nats-server: v${version}\n`
  const apt = `#!/bin/sh
case "$*" in
  *indextargets*) echo http://mirror.example/debian/ ;;
  *update) echo "$@" >>"$FETCHED" ;;
  *sourceparts=*download*) ${later === undefined ? 'exit 100' : `echo ${later} >a.deb`} ;;
  *download*) ${own === undefined ? 'exit 100' : `echo ${own} >a.deb`} ;;
esac
`
  const unpack = `#!/bin/sh
mkdir -p "$3/usr/sbin"
{ echo '#!/bin/sh'; echo "echo nats-server: v$(cat "$2")"; } >"$3/usr/sbin/nats-server"
chmod +x "$3/usr/sbin/nats-server"
`
  const programs = {
    'apt-get': apt,
    'dpkg-deb': unpack,
    ...(found === undefined ? {} : { 'nats-server': server(found) }),
  }
  const dir = t.testdir({ bin: programs, cache: {} })
  for (const name of Object.keys(programs)) chmodSync(join(dir, 'bin', name), 0o755)
  const before = { ...process.env }
  const fetched = join(dir, 'fetched')
  Object.assign(process.env, { PATH: `${join(dir, 'bin')}:${before.PATH}`, FETCHED: fetched })
  delete process.env.NATS_SERVER
  try {
    const search = { cache: join(dir, 'cache/of-this-version') }
    const binary = await natsServerBinary(search)
    const again = await natsServerBinary(search)
    t.equal(again, binary)
    return {
      version: (await run(binary, ['--version'])).stdout.trim().replace('nats-server: v', ''),
      fetches: existsSync(fetched) ? readFileSync(fetched, 'utf8').trim().split('\n').length : 0,
      isWarned: (await natsServerWarning(binary)) !== undefined,
    }
  } finally {
    for (const name of ['PATH', 'NATS_SERVER', 'NATS_SERVER_VERSION']) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  }
}

t.test('the version that is shipped runs, or a later one; an older one where nothing else can be had', async (t) => {
  const [major, minor] = natsServerNamed.split('.').map(Number)
  const [later, older, oldest] = [`${major}.${Number(minor) + 1}.0`, `${major}.${Number(minor) - 1}.99`, '2.9.10']
  const is = async (machine: Parameters<typeof binaryOn>[1], version: string, fetches: number) =>
    t.same(
      await binaryOn(t, machine),
      { version, fetches, isWarned: version === older || version === oldest },
      JSON.stringify(machine),
    )
  await is({ found: natsServerNamed, later }, natsServerNamed, 0)
  await is({ found: later }, later, 0)
  await is({ found: oldest, later: natsServerNamed }, natsServerNamed, 1)
  await is({ found: oldest, later, own: oldest }, later, 1)
  await is({ found: older, own: oldest }, older, 1)
  if (isInSystem) return
  await is({ later, own: oldest }, later, 1)
  await is({ own: oldest }, oldest, 2)
  await t.rejects(binaryOn(t, {}), /nats-server could not be downloaded/)
})
