import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { limitsMs } from '@backoffice/process'
import { connectNats, RpcClient } from '@backoffice/rpc'
import { eventually, TestTimers, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { startOwnBroker } from './own-broker.ts'
import { callsOn, holdCredits } from './probe-calls.ts'
import { countUp, payments, wallet } from './probe-services.ts'
import { type ProbeProcess, startProbe } from './start-probe.ts'

const broker = await startOwnBroker(t)
const bed = await testBed(
  t,
  { payments, wallet },
  { config: { payments: broker.environment, wallet: broker.environment } },
)
await bed.services.payments.drain()
const { scope, unsent } = callsOn(bed)
await bed.register(scope)

const start = (environment = {}, options: readonly string[] = []) => startProbe(t, bed, environment, options)
async function startAndServe(): Promise<ProbeProcess> {
  const started = start()
  await eventually(() => started.printed().includes('the process has started'))
  return started
}
const login = {
  NATS_URL: broker.environment.NATS_URL,
  NATS_USER: 'gateway',
  NATS_PASSWORD: broker.environment.NATS_PASSWORD,
}
const gateway = await connectNats(login, { name: 'gateway' })
t.teardown(() => gateway.close())
const timers = new TestTimers()
const call = (record: string, sends: ('event' | 'command')[]) =>
  new RpcClient(gateway, undefined, { timers }).call(countUp, { scope, input: { record, sends } })

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
  t.notMatch(printed(), 'has started')
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

t.test('a fault that no task handles ends it, logged, and after what it took', async (t) => {
  const message = 'nobody waits for this task'
  const { child, ended, printed } = await startAndServe()
  const held = holdCredits()
  const answer = call('at fault', ['command'])
  await eventually(() => held.asked() > 0)
  child.kill('SIGHUP')
  await eventually(() => printed().includes(message))
  held.release()
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

t.test(
  'with a broker that answers nothing any more it ends all the same, and what it leaves is in the outbox',
  async (t) => {
    const { child, ended } = await startAndServe()
    const held = holdCredits()
    const lost = call('left', ['command', 'event']).catch(({ code }) => code)
    await eventually(() => held.asked() > 0)
    broker.freeze()
    child.kill('SIGTERM')
    t.equal(await ended, 0)
    broker.thaw()
    held.release()
    timers.advance(limitsMs.call)
    t.equal(await lost, 'SERVICE_UNAVAILABLE')
    t.equal((await unsent('left')).length, 2)
  },
)
