import { operations } from '@backoffice/contracts'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { webhooksBed } from '../bed.ts'
import { startReceiver, verifies } from '../receiver.ts'

const { bed, operator, emit, endpoint, story, setUrl } = await webhooksBed(t)
const { provisionWebhook, setWebhookUrl, disableWebhook, ...webhooks } = operations.webhooks
const alice = bed.team('alice')
const key = ({ operatorId, environment }: { operatorId: string; environment: 'sandbox' | 'production' }) => ({
  operatorId,
  environment,
})

t.test('a secret is made once: provisioning again shows null', async (t) => {
  const { scope, secret } = await operator()
  t.match(secret, /^whsec_[\w-]{43}$/)
  t.same(await bed.rpc.call(provisionWebhook, { scope, input: { operatorName: 'Acme' } }), { webhookSecret: null })
})

t.test('the secret is encrypted at rest', async (t) => {
  const { secret } = await operator()
  const { rows } = await bed.sql('webhooks').query('select s::text as row from secret s')
  t.ok(rows.length > 0)
  for (const { row } of rows) t.notOk(row.includes(secret) || row.includes('whsec_'))
})

t.test('a URL that leads inside is refused with WEBHOOK_URL_REFUSED and the reason', async (t) => {
  const { scope } = await operator()
  for (const url of [
    'http://hooks.example.com/',
    'https://169.254.169.254/',
    'https://[::ffff:10.0.0.1]/',
    'ftp://x/',
  ]) {
    await t.rejects(setUrl(scope, url), { code: 'WEBHOOK_URL_REFUSED', details: { reason: String } }, url)
  }
  t.equal((await endpoint(scope)).url, null)
})

t.test('an operator that was never provisioned is refused with OPERATOR_NOT_FOUND', async (t) => {
  const unknown = { operatorId: 'op_unknown', environment: 'sandbox' as const }
  await t.rejects(alice.call(webhooks.showWebhook, { input: unknown }), { code: 'OPERATOR_NOT_FOUND' })
  await t.rejects(alice.call(setWebhookUrl, { input: { ...unknown, url: 'http://localhost:1/' } }), {
    code: 'OPERATOR_NOT_FOUND',
  })
})

t.test('production hears nothing of the sandbox', async (t) => {
  const [sandboxReceiver, productionReceiver] = [await startReceiver(t), await startReceiver(t)]
  const { scope: sandbox, secret } = await operator(sandboxReceiver.url)
  const { scope: production } = await operator(productionReceiver.url, {
    operatorId: sandbox.operatorId,
    environment: 'production',
  })
  const first = await emit(sandbox)
  await eventually(() => sandboxReceiver.received.length === 1)
  const second = await emit(production)
  await eventually(() => productionReceiver.received.length === 1)
  t.same([sandboxReceiver.received[0]?.id, productionReceiver.received[0]?.id], [first.id, second.id])
  t.notOk(verifies(productionReceiver.received[0] as never, secret), 'each environment has a secret of its own')
})

t.test('without a URL events are withheld, and a replay sends them once there is one', async (t) => {
  const { scope } = await operator()
  const event = await emit(scope)
  await eventually(async () => (await story(event.id)).state === 'withheld')
  const input = { ...key(scope), since: new Date(Date.now() - 60_000).toISOString() }
  await t.rejects(alice.call(webhooks.replayEvents, { input }), { code: 'WEBHOOK_NOT_CONFIGURED' })
  await t.rejects(alice.call(webhooks.resendDelivery, { input: { id: event.id } }), { code: 'WEBHOOK_NOT_CONFIGURED' })
  const receiver = await startReceiver(t)
  await setUrl(scope, receiver.url)
  t.match(await alice.call(webhooks.replayEvents, { input }), { scheduled: 1 })
  await eventually(() => receiver.received.length === 1)
})

t.test('a disabled endpoint is sent nothing; setting its URL enables it', async (t) => {
  const receiver = await startReceiver(t)
  const { scope } = await operator(receiver.url)
  const input = { ...key(scope), reason: 'asked by the operator' }
  t.match(await alice.call(disableWebhook, { input }), { enabled: false, disabledReason: 'asked by the operator' })
  const event = await emit(scope)
  await eventually(async () => (await story(event.id)).state === 'withheld')
  await setUrl(scope, receiver.url)
  t.match(await endpoint(scope), { enabled: true, disabledAt: null, disabledReason: null })
  const next = await emit(scope)
  await eventually(() => receiver.received.length === 1)
  t.equal(receiver.received[0]?.id, next.id)
})

t.test('who did it and why is in the audit trail', async (t) => {
  const { scope } = await operator()
  const bob = bed.team('bob')
  await bob.call(disableWebhook, { input: { ...key(scope), reason: 'on vacation' } })
  const { rows } = await bed
    .sql('webhooks')
    .query('select actor, operation, subject, reason from audit_entry where subject = $1', [scope.operatorId])
  t.same(rows, [{ actor: 'bob', operation: 'disableWebhook', subject: scope.operatorId, reason: 'on vacation' }])
})
