import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { newId } from '../../src/index.ts'
import { countUp, crediting, payments, wallet } from '../probe-services.ts'

const bed = await testBed(t, { payments, wallet })
const scope = bed.scope()

/** Replaces the service of this process by one in a process of its own, which is up when it answers. */
async function startProcess() {
  await bed.services.payments.drain()
  const child = spawn(process.execPath, [fileURLToPath(new URL('../probe-process.ts', import.meta.url))], {
    env: { PATH: process.env.PATH, ...bed.environment('payments') },
    stdio: 'inherit',
  })
  t.teardown(() => child.kill('SIGKILL'))
  await eventually(() => bed.rpc.call(countUp, { scope, input: { record: 'warm' }, operationId: 'opn_warm' }), 20_000)
  return child
}

t.test('a process killed between its commit and its command: the next one finishes, once', async (t) => {
  const child = await startProcess()
  const operationId = newId('opn')
  const input = { record: 'killed', sends: ['command' as const, 'event' as const] }
  const call = (timeoutMs: number) =>
    bed.rpc.call(countUp, { scope, input, operationId, deadline: new Date(Date.now() + timeoutMs) })
  let hang = true
  let reached = false
  crediting.during = async () => {
    reached = true
    if (hang) throw await once(child, 'exit').then(() => new Error('too late for its caller'))
  }
  const lost = call(3_000).catch((error) => error.code)
  await eventually(() => reached)
  child.kill('SIGKILL')
  await once(child, 'exit')
  hang = false

  await bed.start('payments')
  t.same(await call(8_000), { count: 1 }, 'the retry takes the command over')
  t.equal(await lost, 'SERVICE_UNAVAILABLE')
  const { rows } = await bed.sql('payments').query('select count from record where id = $1', ['killed'])
  t.same(rows, [{ count: 1 }])
  const credits = await bed.sql('wallet').query('select from credit where reference = $1', [`${operationId}-0`])
  t.equal(credits.rowCount, 1)
  await eventually(async () => {
    const open = await bed
      .sql('payments')
      .query('select from outbox where operation_id = $1 and done_at is null', [operationId])
    return open.rowCount === 0
  })
})
