import { createHmac, randomBytes } from 'node:crypto'
import { defined, type Input, operations, pendingCountedMax, type Scope } from '@backoffice/contracts'
import { hourMs, loadConfig, newId } from '@backoffice/process'
import { startService } from '@backoffice/service-runtime/testing'
import {
  allPages,
  eventually,
  proposalOf,
  type Received,
  refusal,
  startReceiver,
  TestTime,
  verifies,
} from '@backoffice/test-kit'
import t from 'tap'
import { webhooks as service } from '../../src/service.ts'
import { webhooksBed } from '../bed.ts'

const time = new TestTime(new Date())
// An open breaker stays open, however long a test takes.
const made = await webhooksBed(t, { WEBHOOK_BACKOFF_BASE_MS: 3_600_000 }, { time })
const { bed, operator, emit, endpoint, becomes, leave, setUrl } = made
const { provisionWebhook, setWebhookUrl, showWebhook, disableWebhook, listEndpoints } = operations.webhooks
const { replayEvents, resendDelivery, rotateWebhookSecret, rewrapWebhookSecrets, listAudit } = operations.webhooks
const alice = bed.team('alice')
const key = ({ operatorId, environment }: Scope) => ({ operatorId, environment })
const production = { environment: 'production' } as const
/** Nothing listens there. */
const dead = 'http://127.0.0.1:1/hook'

t.test('a secret is made once, shown once, and encrypted at rest', async (t) => {
  const { scope, secret } = await operator()
  t.match(secret, /^whsec_[\w-]{43}$/)
  t.same(await bed.rpc.call(provisionWebhook, { scope, input: { operatorName: 'Acme' } }), { webhookSecret: null })
  const { rows } = await bed.sql('webhooks').query('select s::text as row from secret s')
  t.ok(rows.length > 0)
  for (const { row } of rows) t.notOk(row.includes(secret) || row.includes('whsec_'))
})

t.test('a URL that leads inside is refused with WEBHOOK_URL_REFUSED and the reason', async (t) => {
  const { scope } = await operator()
  for (const url of ['http://hooks.example.com/', 'https://[::ffff:10.0.0.1]/'])
    await t.rejects(setUrl(scope, url), { code: 'WEBHOOK_URL_REFUSED', details: { reason: String } }, url)
  t.equal((await endpoint(scope)).url, null)
})

t.test('an operator that was never provisioned is refused with OPERATOR_NOT_FOUND', async (t) => {
  const unknown = { operatorId: 'op_unknown', environment: 'sandbox' as const }
  t.equal(await refusal(alice.call(showWebhook, { input: unknown })), 'OPERATOR_NOT_FOUND')
  t.equal(await refusal(alice.call(setWebhookUrl, { input: { ...unknown, url: dead } })), 'OPERATOR_NOT_FOUND')
})

t.test('production hears nothing of the sandbox', async (t) => {
  const [sandboxReceiver, productionReceiver] = [await startReceiver(t), await startReceiver(t)]
  const { scope: sandbox, secret } = await operator(sandboxReceiver.url)
  const { scope: live } = await operator(productionReceiver.url, { operatorId: sandbox.operatorId, ...production })
  const first = await emit(sandbox)
  await eventually(() => sandboxReceiver.received.length === 1)
  const second = await emit(live)
  await eventually(() => productionReceiver.received.length === 1)
  t.same([sandboxReceiver.received[0]?.id, productionReceiver.received[0]?.id], [first.id, second.id])
  t.notOk(verifies(productionReceiver.received[0] as never, secret), 'each environment has a secret of its own')
})

t.test('without a URL events are withheld, and a replay sends them once there is one', async (t) => {
  const { scope } = await operator()
  const event = await emit(scope)
  await becomes(event.id, 'withheld')
  const input = { ...key(scope), since: new Date(Date.now() - 3_600_000).toISOString() }
  t.equal(await refusal(alice.call(replayEvents, { input })), 'WEBHOOK_NOT_CONFIGURED')
  t.equal(await refusal(alice.call(resendDelivery, { input: { id: event.id } })), 'WEBHOOK_NOT_CONFIGURED')
  const receiver = await startReceiver(t)
  await setUrl(scope, receiver.url)
  t.match(await alice.call(replayEvents, { input }), { scheduled: 1 })
  await eventually(() => receiver.received.length === 1)
})

t.test('a disabled endpoint is sent nothing; setting its URL enables it', async (t) => {
  const receiver = await startReceiver(t)
  const { scope } = await operator(receiver.url)
  const input = { ...key(scope), reason: 'asked by the operator' }
  t.match(await alice.call(disableWebhook, { input }), { enabled: false, disabledReason: input.reason })
  const trail = await alice.call(listAudit, { input: { subject: scope.operatorId, limit: 1 } })
  const changes = [{ field: 'enabled', before: 'true', after: 'false' }]
  t.match(trail.data, [{ actor: 'alice', operation: 'disableWebhook', reason: input.reason, changes }])
  await becomes((await emit(scope)).id, 'withheld')
  await setUrl(scope, receiver.url)
  t.match(await endpoint(scope), { enabled: true, disabledAt: null, disabledReason: null })
  const next = await emit(scope)
  await eventually(() => receiver.received.length === 1)
  t.equal(receiver.received[0]?.id, next.id)
})

/** The list of production, page by page, as far as it is about these operators. */
async function listed(scopes: readonly Scope[], given: Pick<Input<typeof listEndpoints>, 'failing'> = {}) {
  const found = await allPages((after) =>
    alice.call(listEndpoints, { input: { ...production, limit: 2, ...given, ...defined({ after }) } }),
  )
  return found.filter(({ operatorId }) => scopes.some((scope) => scope.operatorId === operatorId))
}

t.test('endpoints are listed with those first that fail, the longest time before the others', async (t) => {
  const receiver = await startReceiver(t)
  const { scope: working } = await operator(receiver.url, production)
  const { scope: withoutUrl } = await operator(undefined, production)
  const { scope: ofSandbox } = await operator(receiver.url)
  const { scope: late } = await operator(dead, production)
  const { scope: early } = await operator(dead, production)
  const { scope: off } = await operator(receiver.url, production)
  const all = [working, withoutUrl, ofSandbox, late, early, off]
  for (const failing of [early, late]) {
    for (let n = 0; n < 5; n += 1) await emit(failing)
    await eventually(async () => (await endpoint(failing)).breaker.state !== 'closed')
    await time.set(new Date(time.now().getTime() + 1_000))
  }
  await alice.call(disableWebhook, { input: { ...key(off), reason: 'asked by the operator' } })

  const found = await listed(all)
  const idsOf = (of: readonly { readonly operatorId: string }[]) => of.map(({ operatorId }) => operatorId)
  t.strictSame(idsOf(found), [...idsOf([early, late]), ...idsOf([working, off]).sort()])
  t.match(found[0], { url: dead, failing: true, enabled: true, pending: 5, oldestPendingAt: /Z$/ })
  t.match(found[0]?.breaker, { failingSince: /Z$/, retryAt: /Z$/ })
  t.ok((found[0]?.breaker.consecutiveFailures ?? 0) >= 5)
  const shownOf = ({ operatorId }: Scope) => found.find((row) => row.operatorId === operatorId)
  t.match(shownOf(working), { failing: false, pending: 0, oldestPendingAt: null, breaker: { state: 'closed' } })
  t.match(shownOf(off), { failing: false, enabled: false, disabledReason: 'asked by the operator' })

  await alice.call(disableWebhook, { input: { ...key(early), reason: 'the receiver is gone' } })
  const failing = await listed(all, { failing: true })
  t.strictSame(
    failing.map(({ operatorId, enabled }) => [operatorId, enabled]),
    [
      [early.operatorId, false],
      [late.operatorId, true],
    ],
    'its operator hears nothing, so a failing one that was disabled is still among them',
  )
})

t.test('a list does not count a large backlog to its end', async (t) => {
  const { scope } = await operator(dead, production)
  await leave(scope, Array(pendingCountedMax + 1).fill({ state: 'pending' }))
  t.match(await listed([scope]), [{ pending: pendingCountedMax }])
  t.equal((await endpoint(scope)).pending, pendingCountedMax + 1)
})

t.test('a list of endpoints is refused with a cursor of something else', async (t) => {
  for (const after of ['op_1/production', '0/yesterday/op_1/production', '3/infinity/op_1/production', 'dlv_1'])
    t.equal(
      await refusal(alice.call(listEndpoints, { input: { ...production, limit: 10, after } })),
      'VALIDATION_ERROR',
    )
})

t.test('in production where events go, and what signs them, is changed by two people', async (t) => {
  const { scope } = await operator('https://hooks.example.com/a', production)
  const before = await endpoint(scope)
  const input = { ...key(scope), url: 'https://hooks.example.com/b' }
  const { proposalId } = await proposalOf(alice.call(setWebhookUrl, { input }))
  await proposalOf(alice.call(rotateWebhookSecret, { input: key(scope) }))
  t.same(await endpoint(scope), before)
  const alone = alice.call(setWebhookUrl, { input, approves: proposalId })
  t.equal(await refusal(alone), 'TWO_PEOPLE_REQUIRED')
  t.match(await bed.team('bob').call(setWebhookUrl, { input, approves: proposalId }), { url: input.url })
})

const rotate = (scope: Scope, overlapHours?: number, operationId = newId('opn')) =>
  alice.call(rotateWebhookSecret, { input: { ...key(scope), ...defined({ overlapHours }) }, operationId })

/** Whether the extra header carries a signature made with this secret. */
function carries({ timestamp, body, signatures }: Received, secret: string): boolean {
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return signatures.split(',').includes(`v1=${signature}`)
}

/** An operator, and the next delivery to it. */
async function listening() {
  const receiver = await startReceiver(t)
  const next = async () => {
    const before = receiver.received.length
    await emit(made.scope)
    await eventually(() => receiver.received.length > before)
    return receiver.received.at(-1) as Received
  }
  const made = await operator(receiver.url)
  return { ...made, next }
}

t.test('an operator switches secrets at leisure: no delivery ever fails a verifier with one of the two', async (t) => {
  const { scope, secret: old, next } = await listening()
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
  const { scope, secret: leaked, next } = await listening()
  const { webhookSecret } = await rotate(scope, 0)
  const delivery = await next()
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
  const text = 'select reply::text from operation where operation_id = $1'
  const { rows } = await bed.sql('webhooks').query(text, [operationId])
  t.notOk(rows[0]?.reply.includes('whsec_'))
})

const masterKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`
const startWith = (environment: Record<string, string>) =>
  startService(service, loadConfig(service.configuration, environment) as never)

t.test('after a new master key was put first, rewrapping needs the old one no longer', async (t) => {
  const [oldKey, newKey] = [masterKey('2025'), masterKey('2026')]
  const { bed, operator, emit } = await webhooksBed(t, { MASTER_KEYS: oldKey })
  const receiver = await startReceiver(t)
  const { scope, secret } = await operator(receiver.url)
  await bed.services.webhooks.drain()

  const withKeys = (keys: string) => startWith({ ...bed.environment('webhooks'), MASTER_KEYS: keys })
  const both = await withKeys(`${newKey},${oldKey}`)
  const rewrap = () => bed.team('alice').call(rewrapWebhookSecrets, { input: {} })
  t.same(await rewrap(), { rewrapped: 1 })
  t.same(await rewrap(), { rewrapped: 0 })
  await both.drain()

  const last = await withKeys(newKey)
  t.teardown(() => last.drain())
  await emit(scope)
  await eventually(() => receiver.received.length === 1)
  t.ok(receiver.received.every((delivery) => verifies(delivery, secret)))
})

t.test('outside development it does not start without a master key', async (t) => {
  const environment = { DATABASE_URL: 'postgres://unused', NATS_URL: 'nats://unused' }
  await t.rejects(startWith(environment), /MASTER_KEYS is required/)
})
