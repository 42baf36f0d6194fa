import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { eventually } from '@backoffice/test-kit'
import type { Test } from 'tap'
import t from 'tap'
import { Child, SupervisedProcess } from '../src/child.ts'
import { assertPortIsOurs, claimPort, freePort, keepLoopbackDirect } from '../src/ports.ts'
import { serviceCommand } from '../src/services.ts'

/** A program that is deaf to `ignored`, and says by its status that it was asked to end at once. */
async function started(t: Test, ignored: string) {
  const logFile = `${t.testdir({})}/log`
  const options = {
    name: 'deaf program',
    command: '/bin/sh',
    args: ['-c', `trap 'exit 3' QUIT; trap '' ${ignored}; echo ready; while :; do sleep 0.1; done`],
    env: process.env,
    logFile,
    stopSignal: 'SIGINT',
    stopTimeoutMs: 200,
    abortSignal: 'SIGQUIT',
  } as const
  const child = await Child.startReady(options, async () => readFileSync(logFile, 'utf8') === 'ready\n')
  t.teardown(() => child.stop())
  return child
}

t.test('a program that does not finish in time is asked to end its processes and itself at once', async (t) => {
  t.same(await (await started(t, 'INT')).stop(), { code: 3, signal: null })
})

t.test('a program that hears nothing is killed', async (t) => {
  t.same(await (await started(t, 'INT QUIT')).stop(), { code: null, signal: 'SIGKILL' })
})

t.test('a start is over when its program ends, by itself or because nobody wants it any more', async (t) => {
  const logFile = `${t.testdir({})}/log`
  const options = {
    command: '/bin/sh',
    env: process.env,
    logFile,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 1_000,
  } as const
  const start = (script: string, signal?: AbortSignal) =>
    Child.startReady({ ...options, name: 'lazy program', args: ['-c', script], signal }, (over) =>
      once(over, 'abort').then(() => false),
    )
  await t.rejects(start('echo no room'), { message: 'lazy program ended while starting:\nno room' })
  await t.rejects(
    start('true'),
    { message: 'lazy program ended while starting:\n' },
    'of an earlier start it shows nothing',
  )
  const stopping = new AbortController()
  const stopped = start('exec sleep 300', stopping.signal)
  stopping.abort()
  await t.rejects(stopped, /ended while starting/)
})

t.test('a restart that fails is tried again', async (t) => {
  let starts = 0
  const pids: number[] = []
  const start = async () => {
    starts += 1
    if (starts === 2) throw new Error('the data folder is still locked')
    const options = { command: 'sleep', args: ['300'], env: process.env, logFile: '/dev/null' }
    return Child.start({ name: 'sleeper', ...options, stopSignal: 'SIGTERM', stopTimeoutMs: 1_000 })
  }
  const supervised = new SupervisedProcess({
    ...{ name: 'sleeper', start },
    onRunning: (pid) => pids.push(pid),
    onTrouble: () => {},
  })
  await supervised.start()
  t.teardown(() => supervised.stop())
  process.kill(pids[0] as number, 'SIGKILL')
  await eventually(() => pids.length === 2)
  t.equal(starts, 3)
})

const outgoingPorts = '/proc/sys/net/ipv4/ip_local_port_range'
const skip = existsSync(outgoingPorts) ? false : 'this system does not say which ports outgoing connections get'

t.test('a free port is none that an outgoing connection may take before it is used', { skip }, async (t) => {
  const [lowest = 0] = readFileSync(outgoingPorts, 'utf8').trim().split(/\s+/).map(Number)
  for (let index = 0; index < 20; index += 1) t.ok((await freePort()) < lowest)
})

t.test('a port is for the process that it was given to, until that ends', async (t) => {
  const module = new URL('../src/ports.ts', import.meta.url).href
  const inAnotherProcess = (call: string) => {
    const script = `import * as ports from '${module}'; console.log(await ports.${call})`
    return execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }).trim()
  }
  const ours = await freePort()
  t.ok(await claimPort(ours), 'here it may be used again')
  t.equal(inAnotherProcess(`claimPort(${ours})`), 'false')
  const theirs = Number(inAnotherProcess('freePort()'))
  t.ok(await claimPort(theirs), 'its process has ended')
})

t.test('whoever wants a port that somebody has reads that it is taken, and what to change', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await t.rejects(assertPortIsOurs(port), new RegExp(`^Port ${port} is taken .* --port P `))
  server.close()
  await once(server, 'close')
  await t.resolves(assertPortIsOurs(port))
})

t.test("a proxy of the environment gets no call to this machine, and keeps the person's own exceptions", async (t) => {
  const env: NodeJS.ProcessEnv = { NO_PROXY: 'example.com' }
  keepLoopbackDirect(env)
  keepLoopbackDirect(env)
  for (const name of ['NO_PROXY', 'no_proxy']) t.equal(env[name], 'example.com,127.0.0.1,localhost')
})

t.test(
  'with SERVICE_IMAGES it starts from its image, confined, and with the settings but not this machine',
  async (t) => {
    const env = {
      SERVICE_IMAGES: 'registry.example/{service}:1',
      NATS_USER: 'wallet',
      LOG_LEVEL: 'debug',
      OTEL_METRICS_EXPORTER: 'prometheus',
      PATH: '/bin',
      POSTGRES_URL: 'of the administrator',
      NATS_PASSWORD_BOB: 'of somebody else',
      SOME_TOKEN: 'of whoever runs this',
      NODE_OPTIONS: '--x',
    }
    const { command, args } = serviceCommand('wallet', env)
    t.equal(command, 'docker')
    t.equal(args.at(-1), 'registry.example/wallet:1')
    for (const flag of ['--read-only', '--cap-drop=ALL', '--network=host', 'NATS_USER']) t.ok(args.includes(flag), flag)
    for (const name of ['LOG_LEVEL', 'OTEL_METRICS_EXPORTER']) t.ok(args.includes(name), name)
    for (const name of ['PATH', 'NODE_OPTIONS', 'POSTGRES_URL', 'NATS_PASSWORD_BOB', 'SOME_TOKEN'])
      t.notOk(args.includes(name), name)
  },
)
