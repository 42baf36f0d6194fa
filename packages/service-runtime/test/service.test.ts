import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import type { RunningService } from '../src/testing.ts'
import { callsOn, holdCredits } from './probe-calls.ts'
import { correct, countUp, payments, wallet } from './probe-services.ts'

const bed = await testBed(t, { payments, wallet })
const { scope, unsent } = callsOn(bed)

const health = async (service: RunningService, path: string) =>
  (await fetch(`http://127.0.0.1:${service.healthPort}${path}`)).status
const code = (call: Promise<unknown>) => call.then(() => 'answered').catch((error) => error.code)

t.test('health and readiness answer over HTTP', async (t) => {
  t.equal(await health(bed.services.payments, '/healthz'), 200)
  t.equal(await health(bed.services.payments, '/readyz'), 200)
  t.equal(await health(bed.services.payments, '/elsewhere'), 404)
})

t.test("a team's command is recorded with who, when and why, and without secrets", async (t) => {
  const operationId = newId('opn')
  const input = { brandId: 'brd_1', recordId: 'rec_1', secretNote: 'hush', reason: 'a typo' }
  await bed.team('alice').call(correct, { input, operationId })
  await bed.team('alice').call(correct, { input, operationId })
  const { data } = await bed.team('bob').call(operations.payments.listAudit, { input: { limit: 10, subject: 'rec_1' } })
  t.match(data, [
    {
      actor: 'alice',
      operation: 'decideWithdrawal',
      operationId,
      subject: 'rec_1',
      reason: 'a typo',
      input: { brandId: 'brd_1', recordId: 'rec_1', reason: 'a typo' },
    },
  ])
  t.equal(data.length, 1, 'a replay is not another action')
  t.notMatch(JSON.stringify(data), /hush/)
})

t.test('a drain finishes what is under way, refuses nothing it took, and takes nothing more', async (t) => {
  const replica = await bed.start('payments')
  await bed.services.payments.drain()
  const held = holdCredits()
  const call = bed.rpc.call(countUp, { scope, input: { record: 'drained', sends: ['command', 'event'] } })
  await eventually(() => held.asked() === 1)
  const drained = replica.drain()
  await eventually(async () => (await health(replica, '/readyz')) === 503)
  t.equal(await health(replica, '/healthz'), 200, 'it lives while it drains')
  // The broker hears of it a moment later; until then calls are still answered.
  const late = () => code(bed.rpc.call(countUp, { scope, input: { record: 'late' } }))
  await eventually(async () => (await late()) === 'SERVICE_UNAVAILABLE')
  held.release()
  t.same(await call, { count: 1 })
  await drained
  await replica.drain()
  t.same(await unsent(), [], 'its last events left with it')
  await t.rejects(health(replica, '/healthz'))
})
