// waits: for graces and time-outs of processes.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { freePort } from '@backoffice/dev-stack'
import { connectNats, RpcClient } from '@backoffice/rpc'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { startOwnBroker } from './own-broker.ts'
import { countUp, crediting, payments, wallet } from './probe-services.ts'

t.setTimeout(120_000)
/** Kubernetes kills after its grace period of 30 s. */
const endsWithinMs = 25_000

const broker = await startOwnBroker(t)
const bed = await testBed(
  t,
  { payments, wallet },
  { config: { payments: broker.environment, wallet: broker.environment } },
)
await bed.services.payments.drain()
const scope = bed.scope()
await bed.register(scope)

interface Process {
  readonly child: ChildProcess
  readonly printed: () => string
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

function start(environment: Readonly<Record<string, string>> = {}, options: readonly string[] = []): Process {
  const child = spawn(process.execPath, [...options, fileURLToPath(new URL('./probe-process.ts', import.meta.url))], {
    env: { PATH: process.env.PATH, ...bed.environment('payments'), LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  return { child, printed: () => text, ended: once(child, 'close').then(([code, signal]) => code ?? signal) }
}
async function startAndServe(): Promise<Process> {
  const started = start()
  await eventually(() => started.printed().includes('"started"'), 30_000)
  return started
}
const login = {
  NATS_URL: broker.environment.NATS_URL,
  NATS_USER: 'gateway',
  NATS_PASSWORD: broker.environment.NATS_PASSWORD,
}
const gateway = await connectNats(login, { name: 'gateway' })
t.teardown(() => gateway.close())
const call = (record: string, sends: ('event' | 'command')[] = []) =>
  new RpcClient(gateway).call(countUp, { scope, input: { record, sends } })

t.test('settings that are missing end it at once, all of them named', async (t) => {
  const { ended, printed } = start({ DATABASE_URL: '', NATS_URL: '' })
  t.equal(await ended, 1)
  for (const name of ['DATABASE_URL', 'NATS_URL']) t.match(printed(), `${name}: is required`)
})

t.test('SIGTERM while its modules are loaded ends it at once', async (t) => {
  const first = new URL('../../process/src/telemetry/register.ts', import.meta.url).href
  const signal = 'data:text/javascript,process.kill(process.pid,"SIGTERM")'
  const { ended, printed } = start({}, ['--import', first, '--import', signal])
  t.equal(await ended, 0)
  t.notMatch(printed(), 'started')
})

t.test('SIGTERM before its start has ended ends it at once', async (t) => {
  const { child, ended, printed } = start({ NATS_URL: `nats://127.0.0.1:${await freePort()}` })
  await eventually(() => printed().includes('NATS cannot be reached yet'), 30_000)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('SIGTERM while it waits for a broker that takes the connection and says nothing ends it at once', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const { child, ended } = start({ NATS_URL: `nats://127.0.0.1:${(silent.address() as AddressInfo).port}` })
  const [socket] = await once(silent, 'connection')
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  socket.destroy()
})

t.test('a connection to NATS that closes for good ends the process, to be started again', async (t) => {
  const { child, ended, printed } = await startAndServe()
  child.kill('SIGUSR2')
  t.equal(await ended, 1)
  t.match(printed(), 'the connection to NATS is closed')
})

for (const [signal, message] of [
  ['SIGHUP', 'nobody waits for this task'],
  ['SIGWINCH', 'nobody catches this'],
] as const) {
  t.test(`a fault that no task handles ends it, logged, and after what it took (${message})`, async (t) => {
    const { child, ended, printed } = await startAndServe()
    let release = () => {}
    let reached = false
    crediting.during = () => {
      reached = true
      return new Promise((resolve) => {
        release = resolve
      })
    }
    const answer = call(signal, ['command'])
    await eventually(() => reached)
    child.kill(signal)
    await eventually(() => printed().includes(message))
    release()
    t.same(await answer, { count: 1 })
    t.equal(await ended, 1)
    const line = printed()
      .split('\n')
      .find((text) => text.includes(message))
    t.match(JSON.parse(line ?? '{}'), {
      level: 60,
      msg: 'a fault that nothing handled ends the process',
      err: { message },
    })
  })
}

t.test('SIGTERM lets it finish what it took', async (t) => {
  const { child, ended } = await startAndServe()
  let release = () => {}
  let reached = false
  crediting.during = () => {
    reached = true
    return new Promise((resolve) => {
      release = resolve
    })
  }
  const answer = call('under way', ['command', 'event'])
  await eventually(() => reached)
  child.kill('SIGTERM')
  await eventually(async () => (await call('late').catch(({ code }) => code)) === 'SERVICE_UNAVAILABLE')
  release()
  t.same(await answer, { count: 1 })
  t.equal(await ended, 0)
  const { rowCount } = await bed.sql('payments').query('select from outbox')
  t.equal(rowCount, 0)
})

t.test(
  'with a broker that answers nothing any more it ends in time, and what it leaves is in the outbox',
  async (t) => {
    const { child, ended } = await startAndServe()
    let reached = false
    crediting.during = () => {
      reached = true
      return new Promise(() => {})
    }
    const lost = call('left', ['command', 'event']).catch(({ code }) => code)
    await eventually(() => reached)
    broker.freeze()
    const started = performance.now()
    child.kill('SIGTERM')
    t.equal(await ended, 0)
    const tookMs = performance.now() - started
    t.ok(tookMs < endsWithinMs, `${tookMs} ms`)
    t.comment(`${Math.round(tookMs)} ms`)
    broker.thaw()
    t.equal(await lost, 'SERVICE_UNAVAILABLE')
    const { rowCount } = await bed.sql('payments').query("select from outbox where aggregate = 'left'")
    t.equal(rowCount, 2)
  },
)
