import { operations, pendingCountedMax, type Scope } from '@backoffice/contracts'
import { eventually, refusal, startReceiver, type Unseen, verifies } from '@backoffice/test-kit'
import t from 'tap'
import { webhooksBed } from '../bed.ts'

// An open breaker stays open, however long a test takes.
const { bed, operator, emit, endpoint, story, setUrl } = await webhooksBed(t, { WEBHOOK_BACKOFF_BASE_MS: 3_600_000 })
const { provisionWebhook, setWebhookUrl, disableWebhook, listEndpoints, declineProposal, ...webhooks } =
  operations.webhooks
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

t.test('a change of another address than was shown is refused with NOT_AS_SEEN and both', async (t) => {
  const { scope } = await operator()
  const [first, second] = ['http://localhost:1/first', 'http://localhost:1/second']
  const change = (url: string, seen: string | null) =>
    alice.call(setWebhookUrl, { input: { ...key(scope), url, seen: { url: seen } } })
  await change(first, null)
  for (const seen of [null, second]) {
    const details = { ...key(scope), seen: { url: seen }, held: { url: first } }
    await t.rejects(change(second, seen), { code: 'NOT_AS_SEEN', details })
  }
  t.equal((await endpoint(scope)).url, first)
  t.match(await change(second, first), { url: second })
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
  const input = { ...key(scope), since: new Date(Date.now() - 3_600_000).toISOString() }
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

/** The list of production, page by page, as far as it is about these operators. */
async function listed(scopes: readonly Scope[], given: { readonly failing?: boolean } = {}) {
  const found = []
  let after: string | null | undefined
  while (after !== null) {
    const place = after === undefined ? {} : { after }
    const input = { environment: 'production', limit: 2, ...given, ...place } as const
    const { data, nextCursor } = await alice.call(listEndpoints, { input })
    t.ok(data.length <= 2)
    found.push(...data)
    after = nextCursor
  }
  return found.filter(({ operatorId }) => scopes.some((scope) => scope.operatorId === operatorId))
}

t.test('endpoints are listed with those first that fail, the longest time before the others', async (t) => {
  const production = { environment: 'production' } as const
  const dead = 'http://127.0.0.1:1/hook'
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
  const { scope } = await operator('http://127.0.0.1:1/hook', { environment: 'production' })
  await bed.sql('webhooks').query(
    `insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at, next_attempt_at)
     select 'dlv_large' || n, $1, 'evt_' || n, 'deposit.confirmed', $2, '', 'pending', now(), now(), now() + interval '1 hour'
     from generate_series(1, $3) n`,
    [`${scope.operatorId}/production`, scope.brandId, pendingCountedMax + 1],
  )
  t.match(await listed([scope]), [{ pending: pendingCountedMax }])
  t.equal((await endpoint(scope)).pending, pendingCountedMax + 1)
})

t.test('a list of endpoints is refused to other roles, and with a cursor of something else', async (t) => {
  const input = { environment: 'production', limit: 10 } as const
  await t.rejects(bed.team('finance').call(listEndpoints, { input }), { code: 'ROLE_REQUIRED' })
  for (const after of ['op_1/production', '0/yesterday/op_1/production', '3/infinity/op_1/production', 'dlv_1'])
    await t.rejects(alice.call(listEndpoints, { input: { ...input, after } }), { code: 'VALIDATION_ERROR' }, after)
})

t.test('who did it and why is in the audit trail', async (t) => {
  const { scope } = await operator()
  const bob = bed.team('bob')
  await bob.call(disableWebhook, { input: { ...key(scope), reason: 'on vacation' } })
  const { rows } = await bed
    .sql('webhooks')
    .query('select actor, operation, subject, reason, changes from audit_entry where subject = $1', [scope.operatorId])
  const changes = [{ field: 'enabled', before: 'true', after: 'false' }]
  t.same(rows, [
    { actor: 'bob', operation: 'disableWebhook', subject: scope.operatorId, reason: 'on vacation', changes },
  ])
})

t.test('in production where events go, and what signs them, is changed by two people', async (t) => {
  const { scope } = await operator('https://hooks.example.com/a', { environment: 'production' })
  const bob = bed.team('bob')
  const before = await endpoint(scope)
  for (const [operation, input] of [
    [setWebhookUrl, { ...key(scope), url: 'https://hooks.example.com/b' }],
    [webhooks.rotateWebhookSecret, key(scope)],
  ] as readonly (readonly [typeof setWebhookUrl, Unseen<typeof setWebhookUrl>])[]) {
    const { code, details } = await alice.call(operation, { input }).catch((error) => error)
    t.equal(code, 'AWAITS_APPROVAL', operation.id)
    const approves = String(details.proposalId)
    t.equal(await refusal(alice.call(operation, { input, approves })), 'TWO_PEOPLE_REQUIRED', operation.id)
    t.same(await endpoint(scope), before, operation.id)
    await bob.call(declineProposal, { input: { proposalId: approves, reason: 'not asked for' } })
  }
  const input = { ...key(scope), url: 'https://hooks.example.com/b' }
  const { details } = await alice.call(setWebhookUrl, { input }).catch((error) => error)
  t.match(await bob.call(setWebhookUrl, { input, approves: details.proposalId }), { url: input.url })
})
