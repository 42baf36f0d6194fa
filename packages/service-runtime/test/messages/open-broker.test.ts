import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { streamBytesMin } from '@backoffice/contracts'
import { Child, freePort, natsServerBinary } from '@backoffice/dev-stack'
import { makeStream } from '@backoffice/migrator/stream'
import { connectNats } from '@backoffice/rpc'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { eventData, payments } from '../probe-services.ts'

t.test('on a broker without users a service is ready when the stream is there, and publishes', async (t) => {
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
  const NATS_URL = `nats://127.0.0.1:${port}`
  t.teardown(async () => {
    await child.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  const config = { payments: { NATS_URL, NATS_USER: '', NATS_PASSWORD: '' } }
  const bed = await testBed(t, { payments }, { startServices: false, config })
  const service = await bed.start('payments')
  const isReady = async () => (await fetch(`http://127.0.0.1:${service.healthPort}/readyz`)).ok
  t.notOk(await isReady(), 'it has never seen the stream')
  const connection = await connectNats({ NATS_URL }, { name: 'streams' })
  t.teardown(() => connection.close())
  await makeStream(connection, { replicas: 1, bytesMax: streamBytesMin }, service.log)
  t.ok(await eventually(isReady, 20_000))
  await service.transact(async ({ emit }) => {
    emit({ kind: 'deposit.confirmed', aggregate: 'dep_1', scope: bed.scope(), data: eventData('dep_1') })
  })
  const unsent = async () => (await bed.sql('payments').query('select from outbox')).rowCount
  t.ok(await eventually(async () => (await unsent()) === 0))
})
