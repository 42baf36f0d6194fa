// proof: the preflight as a program, before servers that are not there or say nothing.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '@backoffice/local-stack'
import { loadConfig } from '@backoffice/process'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { preflightConfig } from '../src/config.ts'
import { placesOf, runPreflight } from '../src/preflight.ts'
import { reach, targetsIn } from '../src/reach.ts'

async function run(environment: Readonly<Record<string, string>>, own?: readonly string[]) {
  let text = ''
  const write = (line: string) => {
    text += line
  }
  const code = await runPreflight({ PREFLIGHT_WAIT_MS: '0', ...environment }, { write }, own)
  return {
    code,
    lines: text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  }
}

async function startListener(port = 0) {
  const server = createServer((socket) => socket.destroy())
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/**
 * A port of this machine that answers nobody, as behind a network policy that drops: its process is frozen, and as many
 * connections as the kernel keeps for it are waiting already.
 */
async function startSilence(): Promise<number> {
  const listen = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    console.log(this.address().port)
  })`
  const child: ChildProcess = spawn(process.execPath, ['--eval', listen], { stdio: ['ignore', 'pipe', 'inherit'] })
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    child.kill('SIGKILL')
  })
  const [line] = await once(child.stdout ?? child, 'data')
  const port = Number(String(line))
  child.kill('SIGSTOP')
  for (let waiting = 0; waiting < 16; waiting += 1) {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {})
    sockets.push(socket)
  }
  // Those that the kernel takes are open by now, or will be; the rest waits for ever.
  await eventually(() => sockets.some(({ connecting }) => !connecting))
  return port
}

t.test('what is reached, and what is not and why, is said of each target', async (t) => {
  const [open, another, closed] = [await startListener(), await startListener(), await freePort()]
  const { code, lines } = await run({
    DATABASE_URL: `postgresql://backoffice_wallet@localhost:${open}/backoffice`,
    NATS_URL: `tls://127.0.0.1:${another},tls://127.0.0.1:${closed}`,
    PREFLIGHT_TARGETS: 'no-such-name.invalid:443',
  })
  t.equal(code, 1)
  const said = Object.fromEntries(lines.filter(({ target }) => target).map((line) => [line.target, line]))
  t.match(said[`localhost:${open}`], { msg: `localhost:${open} can be reached`, addresses: [/127\.0\.0\.1|::1/] })
  t.match(said[`127.0.0.1:${another}`], { msg: /can be reached$/ })
  t.match(said[`127.0.0.1:${closed}`], { obstacle: 'refusal', msg: /cannot be reached: refused/ })
  t.match(said['no-such-name.invalid:443'], { obstacle: 'name', addresses: [], msg: /does not resolve/ })
  const last = lines.at(-1)
  t.match(last, {
    msg: 'something that this workload needs cannot be reached',
    err: { message: /^cannot be reached: / },
  })
  t.notMatch(last.err.message, `127.0.0.1:${another}`, 'only those that failed')
})

t.test('what answers nobody is told from what refuses', async (t) => {
  const port = await startSilence()
  t.match(await reach({ host: '127.0.0.1', port }, { waitMs: 0 }), { obstacle: 'silence', addresses: ['127.0.0.1'] })
})

t.test('a team without a second factor is named', async (t) => {
  const TEAM_ISSUER = `http://127.0.0.1:${await startListener()}`
  const warnings = async (settings: Readonly<Record<string, string>>) =>
    (await run({ TEAM_ISSUER, ...settings })).lines.filter(({ msg }) => /second factor/.test(msg)).length
  t.equal(await warnings({}), 1)
  t.equal(await warnings({ TEAM_STRONG_ACR: 'phr', TEAM_STRONG_AMR: '' }), 0)
})

t.test('the bucket of the heads and the identity provider are tried by those that ask them', async (t) => {
  const tried = (settings: Readonly<Record<string, string>>) => placesOf(loadConfig(preflightConfig, settings))
  const [bucket, issuer] = ['https://objects.internal.example', 'https://login.example']
  t.same(tried({ HEADS_BUCKET: 'heads', HEADS_BUCKET_ENDPOINT: bucket }), [bucket])
  t.same(tried({ HEADS_BUCKET: 'heads', HEADS_BUCKET_REGION: 'sa-east-1', HEADS_BUCKET_ENDPOINT: '' }), [
    'https://heads.s3.sa-east-1.amazonaws.com',
  ])
  t.same(tried({ HEADS_BUCKET: '', HEADS_BUCKET_ENDPOINT: bucket }), [], 'there is no bucket')
  const keys = { TEAM_ISSUER: issuer, TEAM_KEYS_FILE: '/etc/team-identity/keys.json' }
  t.same(tried({ TEAM_ISSUER: issuer, TEAM_KEYS_FILE: '' }), [issuer])
  t.same(tried(keys), [], 'a service that has the keys in a file')
  t.same(tried({ ...keys, CONSOLE_CLIENT_ID: 'console' }), [issuer], 'people log in there')
})

t.test(
  'a range of proxies that is not the network of pods is refused, before all callers share one address',
  async (t) => {
    const NATS_URL = `nats://127.0.0.1:${await startListener()}`
    const pod = ['10.1.2.3', 'fe80::1']
    for (const [TRUSTED_PROXIES, expected] of [
      ['10.1.0.0/16', 0],
      ['', 0],
      ['10.244.0.0/16', 1],
    ] as const) {
      const { code, lines } = await run({ NATS_URL, TRUSTED_PROXIES }, pod)
      t.equal(code, expected, TRUSTED_PROXIES)
      if (expected === 1) t.match(lines.at(-1).err.message, /TRUSTED_PROXIES 10\.244\.0\.0\/16 .* 10\.1\.2\.3/)
      else t.equal(lines.at(-1).msg, 'all that this workload needs can be reached')
    }
  },
)

t.test('what comes up later is waited for', async (t) => {
  const port = await freePort()
  const reached = reach({ host: '127.0.0.1', port }, { waitMs: 3_600_000 })
  t.match(await reach({ host: '127.0.0.1', port }, { waitMs: 0 }), { obstacle: 'refusal' }, 'not yet')
  await startListener(port)
  t.match(await reached, { obstacle: null })
})

t.test('targets are URLs or host and port, and what is neither is named', async (t) => {
  t.same(targetsIn('tls://a:1, nats://b,https://c/path,http://d,e:5432,tls://[::1]:6'), [
    { host: 'a', port: 1 },
    { host: 'b', port: 4222 },
    { host: 'c', port: 443 },
    { host: 'd', port: 80 },
    { host: 'e', port: 5432 },
    { host: '::1', port: 6 },
  ])
  t.throws(() => targetsIn('a:1,without-port'), /without-port/)
  const { code, lines } = await run({})
  t.equal(code, 1)
  t.match(lines.at(-1).err.message, /nothing to reach/)
})
