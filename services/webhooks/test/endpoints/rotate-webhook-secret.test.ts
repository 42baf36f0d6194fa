import { createHmac, randomBytes } from 'node:crypto'
import { operations, type Scope } from '@backoffice/contracts'
import { hourMs, loadConfig, newId } from '@backoffice/process'
import { startService } from '@backoffice/service-runtime/testing'
import { eventually, type Received, startReceiver, TestTime, verifies } from '@backoffice/test-kit'
import t from 'tap'
import { webhooks } from '../../src/service.ts'
import { webhooksBed } from '../bed.ts'

const time = new TestTime(new Date())
const { bed, operator, emit, endpoint } = await webhooksBed(t, {}, { time })
const { rotateWebhookSecret, rewrapWebhookSecrets } = operations.webhooks
const alice = bed.team('alice')

const rotate = ({ operatorId, environment }: Scope, overlapHours?: number, operationId = newId('opn')) =>
  alice.call(rotateWebhookSecret, {
    input: { operatorId, environment, ...(overlapHours === undefined ? {} : { overlapHours }) },
    operationId,
  })

/** Whether the extra header carries a signature made with this secret. */
function carries({ timestamp, body, signatures }: Received, secret: string): boolean {
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return signatures.split(',').includes(`v1=${signature}`)
}

t.test('an operator switches secrets at leisure: no delivery ever fails a verifier with one of the two', async (t) => {
  const receiver = await startReceiver(t)
  const { scope, secret: old } = await operator(receiver.url)
  const next = async () => {
    const before = receiver.received.length
    await emit(scope)
    await eventually(() => receiver.received.length > before)
    return receiver.received.at(-1) as Received
  }
  const { webhookSecret, formerSecretExpiresAt } = await rotate(scope)
  const fresh = webhookSecret ?? ''
  t.match(fresh, /^whsec_/)
  t.equal(Date.parse(formerSecretExpiresAt ?? '') - time.now().getTime(), 24 * hourMs, '24 h unless said')
  t.equal((await endpoint(scope)).secrets.length, 2)

  const during = await next()
  t.ok(verifies(during, old), 'X-Webhook-Signature keeps the old secret')
  t.ok(carries(during, old) && carries(during, fresh), 'the extra header has both')

  await time.set(new Date(time.now().getTime() + 24 * hourMs))
  const after = await next()
  t.ok(verifies(after, fresh))
  t.notOk(carries(after, old))
})

t.test('with no overlap the old secret is gone at once', async (t) => {
  const receiver = await startReceiver(t)
  const { scope, secret: leaked } = await operator(receiver.url)
  const { webhookSecret } = await rotate(scope, 0)
  await emit(scope)
  await eventually(() => receiver.received.length === 1)
  const [delivery] = receiver.received as [Received]
  t.ok(verifies(delivery, webhookSecret ?? ''))
  t.notOk(carries(delivery, leaked))
})

t.test('a replay of the same operation rotates nothing and shows null; the stored reply has no secret', async (t) => {
  const { scope } = await operator()
  const operationId = newId('opn')
  const first = await rotate(scope, 24, operationId)
  const second = await rotate(scope, 24, operationId)
  t.type(first.webhookSecret, 'string')
  t.same(second, { ...first, webhookSecret: null })
  t.equal((await endpoint(scope)).secrets.length, 2)
  const { rows } = await bed
    .sql('webhooks')
    .query('select reply::text from operation where operation_id = $1', [operationId])
  t.notOk(rows[0]?.reply.includes('whsec_'))
})

t.test('rewrapping leaves what the newest master key wrote', async (t) => {
  t.same(await alice.call(rewrapWebhookSecrets, { input: {} }), { rewrapped: 0 })
})

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`
const oldKey = key('2025')
const newKey = key('2026')

const startWith = (environment: Record<string, string>) =>
  startService(webhooks, loadConfig(webhooks.configuration, environment) as never)

t.test('after a new master key was put first, rewrapping needs the old one no longer', async (t) => {
  const { bed, operator, emit } = await webhooksBed(t, { MASTER_KEYS: oldKey })
  const receiver = await startReceiver(t)
  const { scope, secret } = await operator(receiver.url)
  await bed.services.webhooks.drain()

  const withKeys = (keys: string) => startWith({ ...bed.environment('webhooks'), MASTER_KEYS: keys })
  const both = await withKeys(`${newKey},${oldKey}`)
  const alice = bed.team('alice')
  t.same(await alice.call(operations.webhooks.rewrapWebhookSecrets, { input: {} }), { rewrapped: 1 })
  await both.drain()

  const service = await withKeys(newKey)
  t.teardown(() => service.drain())
  await emit(scope)
  await eventually(() => receiver.received.length === 1)
  t.ok(receiver.received.every((delivery) => verifies(delivery, secret)))
})

t.test('outside development it does not start without a master key', async (t) => {
  const environment = { DATABASE_URL: 'postgres://unused', NATS_URL: 'nats://unused' }
  await t.rejects(startWith(environment), /MASTER_KEYS is required/)
})
