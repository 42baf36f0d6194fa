import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { eventually } from '@backoffice/test-kit'
import type { Test } from 'tap'
import t from 'tap'
import { Child } from '../src/child.ts'
import { freePort, portIsFree } from '../src/ports.ts'
import { serviceCommand } from '../src/services.ts'
import { SupervisedProcess } from '../src/supervisor.ts'
import { isRunning } from './is-running.ts'

/** A program that is deaf to `ignored`, and says by its status that it was asked to end at once. */
async function started(t: Test, ignored: string) {
  const child = await Child.start({
    name: 'deaf program',
    command: '/bin/sh',
    args: ['-c', `trap 'exit 3' QUIT; trap '' ${ignored}; echo ready; while :; do sleep 0.1; done`],
    env: process.env,
    logFile: `${t.testdir({})}/log`,
    stopSignal: 'SIGINT',
    stopTimeoutMs: 200,
    abortSignal: 'SIGQUIT',
  })
  t.teardown(() => child.stop())
  await child.waitUntil(async () => child.logTail() === 'ready', 30_000)
  return child
}

t.test('a program that does not finish in time is asked to end its processes and itself at once', async (t) => {
  t.same(await (await started(t, 'INT')).stop(), { code: 3, signal: null })
})

t.test('a program that hears nothing is killed', async (t) => {
  t.same(await (await started(t, 'INT QUIT')).stop(), { code: null, signal: 'SIGKILL' })
})

const childModule = fileURLToPath(new URL('../src/child.ts', import.meta.url))

/** A parent that starts one child under guard, prints its process number and waits to be killed. */
const parentProgram = `
  const { Child } = await import(${JSON.stringify(childModule)})
  const child = await Child.start({
    name: 'sleeper', command: 'sleep', args: ['300'], env: process.env,
    logFile: '/dev/null', stopSignal: 'SIGTERM', stopTimeoutMs: 1000,
  })
  console.log(child.pid)
  setInterval(() => {}, 1000)
`

t.test('a child does not outlive a parent that is killed with SIGKILL', async (t) => {
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', parentProgram], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  t.ok(isRunning(pid))
  parent.kill('SIGKILL')
  t.ok(await eventually(() => !isRunning(pid)))
})

const sleeper = () =>
  Child.start({
    name: 'sleeper',
    command: 'sleep',
    args: ['300'],
    env: process.env,
    logFile: '/dev/null',
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 1_000,
  })

t.test('a process that dies is started again, and its new number is told', async (t) => {
  const pids: number[] = []
  const troubles: string[] = []
  const supervised = new SupervisedProcess({
    name: 'sleeper',
    start: sleeper,
    onRunning: (pid) => pids.push(pid),
    onTrouble: (message) => troubles.push(message),
  })
  await supervised.start()
  t.teardown(() => supervised.stop())

  process.kill(pids[0] as number, 'SIGKILL')
  await eventually(() => pids.length === 2)
  t.match(troubles, [/sleeper ended \(SIGKILL\)/])

  process.kill(pids[1] as number, 'SIGKILL')
  await eventually(() => pids.length === 3)
})

t.test('a restart that fails is tried again', async (t) => {
  let starts = 0
  const pids: number[] = []
  const supervised = new SupervisedProcess({
    name: 'sleeper',
    start: async () => {
      starts += 1
      if (starts === 2) throw new Error('the data folder is still locked')
      return sleeper()
    },
    onRunning: (pid) => pids.push(pid),
    onTrouble: () => {},
  })
  await supervised.start()
  t.teardown(() => supervised.stop())
  process.kill(pids[0] as number, 'SIGKILL')
  await eventually(() => pids.length === 2)
  t.equal(starts, 3)
})

t.test('a first start that fails is an error', async (t) => {
  const supervised = new SupervisedProcess({
    name: 'sleeper',
    start: async () => {
      throw new Error('no such program')
    },
    onRunning: () => {},
    onTrouble: () => {},
  })
  await t.rejects(supervised.start(), /no such program/)
})

t.test('a process that is stopped is not started again', async (t) => {
  const pids: number[] = []
  const supervised = new SupervisedProcess({
    name: 'sleeper',
    start: sleeper,
    onRunning: (pid) => pids.push(pid),
    onTrouble: () => {},
  })
  await supervised.start()
  await supervised.stop()
  t.equal(pids.length, 1)
  t.throws(() => process.kill(pids[0] as number, 0))
})

const outgoingPorts = '/proc/sys/net/ipv4/ip_local_port_range'
const skip = existsSync(outgoingPorts) ? false : 'this system does not say which ports outgoing connections get'

t.test('a free port is none that an outgoing connection may take before it is used', { skip }, async (t) => {
  const [lowest = 0] = readFileSync(outgoingPorts, 'utf8').trim().split(/\s+/).map(Number)
  for (let index = 0; index < 20; index += 1) t.ok((await freePort()) < lowest)
})

t.test('a port on which somebody listens is not free', async (t) => {
  const port = await freePort()
  t.equal(await portIsFree(port), true)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.equal(await portIsFree(port), false)
  await new Promise((resolve) => server.close(resolve))
})

t.test('a service starts from the sources, with its telemetry loaded first', async (t) => {
  const { command, args } = serviceCommand('wallet', {})
  t.equal(command, process.execPath)
  t.equal(args.at(-3), '--import', 'before the program')
  t.match(args.at(-1), /services\/wallet\/src\/main\.ts$/)
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
