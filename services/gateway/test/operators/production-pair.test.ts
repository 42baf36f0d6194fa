import { randomUUID } from 'node:crypto'
import { type HomologationCheck, homologationCheckNames, operations } from '@backoffice/contracts'
import { startPostgres } from '@backoffice/local-stack'
import { loadConfig } from '@backoffice/process'
import { startService } from '@backoffice/service-runtime/testing'
import {
  eventually,
  freePort,
  newPlayer,
  refusal,
  serveHttp,
  startProcess,
  temporaryFolder,
} from '@backoffice/test-kit'
import t from 'tap'
import { gateway } from '../../src/service.ts'
import { gatewayBed } from '../bed.ts'
import { type Answer, type Pair, post, type SignedRequest, send } from '../signed-client.ts'

const { createOperator, getOperator, issueCredential, listAudit, revokeCredential, rewrapSecrets, showHomologation } =
  operations.gateway
const { listDeliveries, resendDelivery, rotateWebhookSecret, setWebhookUrl } = operations.webhooks
const keyOf = (id: string) => `${id}:${Buffer.alloc(32, id).toString('base64')}`
/** How much more time has passed for the gateway than for others. */
let aheadMs = 0
const clock = { now: () => new Date(Date.now() + aheadMs) }
const sinceStartMs = performance.now.bind(performance)
t.intercept(performance, 'now', { value: () => sinceStartMs() + aheadMs })
// As in production, where a server that waits for no disk is refused.
const server = await startPostgres({ dir: temporaryFolder(t), password: 'durable' })
t.teardown(() => server.child.stop())
const servers = { postgresUrl: server.url }
const bed = await gatewayBed(t, { DEVELOPMENT: false, MASTER_KEYS: keyOf('first') }, { clock, servers })
const alice = bed.team('alice')
const pairs: Pair[] = []
const replica = await bed.start('gateway')
const [first, second] = [bed.services.gateway.addresses.baseUrl, replica.addresses.baseUrl]
const admin = bed.sql('admin')

const created = async (name: string) => alice.call(createOperator, { input: { name, rateLimitPerMinute: 1_000 } })
const proofsOf = async (operatorId: string) => {
  const { checks } = await alice.call(showHomologation, { input: { operatorId } })
  return new Map(checks.flatMap(({ check, firstAt, proof }) => (firstAt === null ? [] : [[check, proof ?? '']])))
}
const provedSoon = (operatorId: string, check: HomologationCheck) =>
  eventually(async () => (await proofsOf(operatorId)).get(check) ?? false)

/** As if the operator had used up its minute. Before its first request. */
const useUp = (operatorId: string) =>
  admin.query(
    `insert into gateway.rate_window (operator_id, environment, started_at, granted, last_grant)
     values ($1, 'sandbox', clock_timestamp(), 1000, 0)`,
    [operatorId],
  )

/** Time passes for the gateway, and for its windows in the database. */
async function pass(seconds: number): Promise<void> {
  await admin.query('update gateway.rate_window set started_at = started_at - make_interval(secs => $1)', [seconds])
  aheadMs += seconds * 1_000
}
/** Until when a refused request says. */
async function obey({ status, headers }: Answer): Promise<void> {
  if (status !== 429) throw new Error(`expected 429, not ${status}`)
  await pass(Number(headers['retry-after']))
}
/** Refusals on all replicas are judged after so long. */
const judgedAfterSeconds = 3

const person = (name = 'João') => newPlayer({ name })
const deposited = (amount: string) => ({ amount, currency: 'BRL', method: 'pix', externalReference: randomUUID() })

/** Everything that homologation asks of an operator, but for the rate limit. */
async function integrate(operatorId: string, pair: Pair): Promise<void> {
  const expected = async (status: number, answer: Promise<Answer>) => {
    const { status: got, text, json } = await answer
    if (got !== status) throw new Error(`expected ${status}, not ${got}: ${text}`)
    return json
  }
  const to = (status: number, path: string, body: unknown = {}, key?: string) =>
    expected(status, post(first, pair, path, body, key))
  const get = (path: string) => expected(200, send(first, pair, { path }))
  await expected(401, send(first, pair, { path: '/me', secret: 'sk_wrong' }))
  await get('/me')
  const [joao, key] = [person(), randomUUID()]
  const { id } = await to(201, '/players', joao, key)
  await to(201, '/players', joao, key)
  await to(409, '/players', person('Ana'), key)
  await to(409, '/players', joao)
  await to(201, `/players/${id}/kyc/submissions`, { documentType: 'rg', reference: 'doc-1' })
  await to(200, `/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' })
  await to(403, `/players/${id}/deposits`, deposited('1414.14'))
  await to(422, `/players/${id}/deposits`, deposited('-1.00'))
  const { id: depositId } = await to(201, `/players/${id}/deposits`, deposited('100.00'))
  await to(200, `/deposits/${(await to(201, `/players/${id}/deposits`, deposited('5.00'))).id}/fail`)
  let refuses = true
  const url = await serveHttp(t, (request, response) => {
    request.resume().on('end', () => response.writeHead(refuses ? 500 : 204).end())
  })
  const endpoint = { operatorId, environment: 'sandbox' } as const
  await alice.call(setWebhookUrl, { input: { ...endpoint, url } })
  await to(200, `/deposits/${depositId}/confirm`)
  const [delivery] = await eventually(async () => {
    const { data } = await alice.call(listDeliveries, { input: { ...endpoint, type: 'deposit.confirmed', limit: 1 } })
    return data[0]?.attempts === 1 && data
  })
  refuses = false
  await alice.call(resendDelivery, { input: { id: delivery?.id ?? '' } })
  await alice.call(rotateWebhookSecret, { input: { ...endpoint, overlapHours: 0 } })
  await to(200, '/webhooks/test')
  await get(`/players/${id}/wallet`)
  const withdrawal = { amount: '10.00', currency: 'BRL', method: 'pix', destination: 'j@example.com' }
  await to(200, `/withdrawals/${(await to(201, `/players/${id}/withdrawals`, withdrawal)).id}/cancel`)
  await to(201, `/players/${id}/deposits`, deposited('1.00')).then(({ id }) => to(200, `/deposits/${id}/confirm`))
  const { nextCursor } = await get(`/players/${id}/transactions?limit=1`)
  await get(`/players/${id}/transactions?limit=1&cursor=${encodeURIComponent(nextCursor)}`)
  await to(201, `/players/${id}/game-sessions`, { gameId: 'fortune-reels' })
  const newer = await alice.call(issueCredential, { input: endpoint })
  await alice.call(revokeCredential, { input: { key: pair.key } })
  await expected(200, send(first, newer, { path: '/me' }))
}

t.test('sandbox traffic proves an operator, and then two people issue its pair of production', async (t) => {
  const { operatorId, sandbox } = await created('Casa Verde')
  const { operatorId: neighbour } = await created('Neighbour')
  const input = { operatorId, environment: 'production', reason: 'homologated' } as const
  t.match(await alice.call(issueCredential, { input }).catch((error) => error), {
    code: 'HOMOLOGATION_INCOMPLETE',
    details: { missing: homologationCheckNames },
  })
  t.equal((await alice.call(operations.gateway.listProposals, { input: { limit: 10 } })).data.length, 0)
  await useUp(operatorId)
  await obey(await send(first, sandbox, { path: '/me' }))
  await integrate(operatorId, sandbox)
  await pass(judgedAfterSeconds)
  await eventually(async () => (await proofsOf(operatorId)).size === homologationCheckNames.length)
  const proofs = await proofsOf(operatorId)
  for (const [check, proof] of proofs) t.match(proof, /^(req|dlv|bk_test)_\w+$/, check)
  t.match(proofs.get('webhookRedelivered'), /^dlv_/)
  t.match(proofs.get('keyRotated'), /^bk_test_/)
  t.equal((await proofsOf(neighbour)).size, 0, 'nobody else is credited')
  t.equal(
    await refusal(alice.call(issueCredential, { input: { ...input, operatorId: neighbour } })),
    'HOMOLOGATION_INCOMPLETE',
  )
  t.equal(await refusal(alice.call(issueCredential, { input })), 'AWAITS_APPROVAL')
  t.match(await bed.agreed(issueCredential, { input }), { key: /^bk_live_/ })
  const { data } = await alice.call(listAudit, { input: { subject: operatorId, limit: 1 } })
  t.match(data[0]?.changes, [{ field: 'key' }, { field: 'homologation', after: '20 / 20' }])
  t.equal((await alice.call(showHomologation, { input: { operatorId } })).isLive, true)
  t.match(await bed.agreed(issueCredential, { input: { ...input, reason: 'rotation' } }), { key: /^bk_live_/ })
})

t.test('a 429 is obeyed by who sends nothing until Retry-After has ended, to any replica', async (t) => {
  const [patient, hasty, hastyElsewhere] = [
    await created('Patient'),
    await created('Hasty'),
    await created('Elsewhere'),
  ]
  const me = (to: string, { sandbox }: typeof patient) => send(to, sandbox, { path: '/me' })
  const answers = []
  for (const one of [patient, hasty, hastyElsewhere]) {
    await useUp(one.operatorId)
    answers.push(await me(first, one))
  }
  await pass(2.5)
  t.equal((await me(first, hasty)).status, 429)
  t.equal((await me(second, hastyElsewhere)).status, 429)
  const written = "select from gateway.rate_refusal where last_at > first_at + interval '2 seconds'"
  await eventually(async () => (await admin.query(written)).rowCount === 2)
  for (const answer of answers) await obey(answer)
  await me(first, hasty)
  await me(first, hastyElsewhere)
  const { headers } = await me(first, patient)
  await pass(judgedAfterSeconds)
  t.equal(await provedSoon(patient.operatorId, 'rateLimitObeyed'), headers['x-request-id'])
  for (const { operatorId } of [hasty, hastyElsewhere])
    t.notOk((await proofsOf(operatorId)).has('rateLimitObeyed'), 'judged with the patient one, or before')
})

t.test('what proves nothing is not noted', async (t) => {
  const { operatorId, sandbox } = await created('Careless')
  const me = (options: Partial<SignedRequest> = {}) => send(first, sandbox, { path: '/me', ...options })
  await me({ secret: 'sk_wrong' })
  const { id } = (await post(first, sandbox, '/players', person('Ana'))).json
  const key = randomUUID()
  for (const amount of ['-1.00', '1.00']) await post(first, sandbox, `/players/${id}/deposits`, deposited(amount), key)
  await me()
  t.type(await provedSoon(operatorId, 'signedRequest'), 'string')
  await provedSoon(operatorId, 'conflict')
  const proved = await proofsOf(operatorId)
  t.same([...proved.keys()].sort(), ['conflict', 'signatureRefused', 'signedRequest'])
})

t.test('what cannot be written yet is written later, and what a process forgets is proved again', async (t) => {
  const { operatorId, sandbox } = await created('Away')
  // A sequence is not rolled back with the write that asked for its next value.
  await admin.query(`
    create sequence public.attempts;
    create function public.refuse_write() returns trigger language plpgsql security definer as $$
    begin perform nextval('public.attempts'); raise exception 'not yet'; end $$;
    create trigger refuse_write before insert on gateway.homologation_proof for each row execute function public.refuse_write()`)
  await send(first, sandbox, { path: '/me' })
  await eventually(async () => (await admin.query('select from public.attempts where is_called')).rowCount === 1)
  t.equal((await proofsOf(operatorId)).size, 0)
  await admin.query('drop trigger refuse_write on gateway.homologation_proof')
  await provedSoon(operatorId, 'signedRequest')

  const right = (verb: string) => admin.query(`${verb} backoffice_gateway`)
  await right('revoke insert on gateway.homologation_proof from')
  const killed = await created('Killed')
  const port = String(await freePort())
  const main = new URL('../../src/main.ts', import.meta.url).pathname
  // It is none of development, so its limits are production's.
  const env = { ...process.env, ...bed.environment('gateway'), PATIENCE: '', PORT: port }
  const doomed = startProcess(t, [process.execPath, '--disable-warning=ExperimentalWarning', main], { env })
  const me = () => send(`http://127.0.0.1:${port}/api/v1`, killed.sandbox, { path: '/me' })
  await doomed.until(async () => (await me().catch(() => undefined))?.status === 200)
  doomed.child.kill('SIGKILL')
  await doomed.ended
  await right('grant insert on gateway.homologation_proof to')
  // The broker may still have the dead process for one of those that answer, and a call of the team is sent once.
  const left = await eventually(() => proofsOf(killed.operatorId).catch(() => false as const))
  t.equal(left.size, 0, 'what it had noted is gone')
  await send(second, killed.sandbox, { path: '/me' })
  await provedSoon(killed.operatorId, 'signedRequest')
})

t.test('people may say why a pair is issued without homologation, and both sign that', async (t) => {
  const { operatorId } = await created('Excepted')
  const input = { operatorId, environment: 'production', withoutHomologation: 'no games', reason: 'contract' } as const
  t.equal(await refusal(alice.call(issueCredential, { input })), 'AWAITS_APPROVAL')
  const [proposal] = (await alice.call(operations.gateway.listProposals, { input: { state: 'open', limit: 1 } })).data
  t.match(proposal?.input, { withoutHomologation: 'no games' })
  const approves = proposal?.id ?? ''
  const bob = bed.team('bob')
  const other = { ...input, withoutHomologation: 'something else' }
  t.equal(await refusal(bob.call(issueCredential, { input: other, approves })), 'PROPOSAL_NOT_FOUND')
  t.match(await bob.call(issueCredential, { input, approves }), { key: /^bk_live_/ })
  const { data } = await alice.call(listAudit, { input: { subject: operatorId, limit: 1 } })
  t.match(data[0]?.changes, [
    { field: 'key' },
    { field: 'homologation', after: '0 / 20' },
    { field: 'withoutHomologation', after: 'no games' },
  ])
  for (const environment of ['production', 'sandbox'] as const)
    t.equal(await refusal(alice.call(issueCredential, { input: { ...input, environment } })), 'VALIDATION_ERROR')
})

t.test('one person makes no key of production: the pair is issued later, by two', async (t) => {
  const created = await alice.call(createOperator, { input: { name: 'Casa Azul' } })
  t.match(created.sandbox, { key: /^bk_test_/, secret: /^sk_/, webhookSecret: /^whsec_/ })
  t.equal(created.production, null)
  const { brands, credentials } = await alice.call(getOperator, { input: { name: 'Casa Azul' } })
  t.same(brands.map(({ environment }) => environment).sort(), ['production', 'sandbox'])
  t.same(
    credentials.map(({ environment }) => environment),
    ['sandbox'],
  )
  const { data } = await alice.call(listAudit, { input: { limit: 1 } })
  t.same(
    data[0]?.changes?.map(({ field }) => field),
    ['operatorId', 'sandboxKey'],
  )

  const { operatorId } = created
  const input = { operatorId, environment: 'production', reason: 'agreed', withoutHomologation: 'a test' } as const
  t.equal(await refusal(alice.call(issueCredential, { input })), 'AWAITS_APPROVAL')
  const pair = await bed.agreed(issueCredential, { input })
  t.match(pair, { key: /^bk_live_/, secret: /^sk_/ })
  pairs.push(created.sandbox, pair)
  const { baseUrl } = bed.services.gateway.addresses
  t.equal((await send(baseUrl, pair, { path: '/me' })).json.operator.environment, 'production')
  // The webhook secret of production was shown to nobody, so no former one has to go on signing.
  const secret = await bed.agreed(rotateWebhookSecret, {
    input: { operatorId, environment: 'production', overlapHours: 0 },
  })
  t.match(secret, { webhookSecret: /^whsec_/ })
})

t.test('what webhooks prove is kept, and without their answer nobody is homologated', async (t) => {
  const { operatorId, sandbox } = await created('Kept')
  const url = await serveHttp(t, (request, response) => request.resume().on('end', () => response.writeHead(204).end()))
  await alice.call(setWebhookUrl, { input: { operatorId, environment: 'sandbox', url } })
  t.equal((await post(first, sandbox, '/webhooks/test', {})).json.delivered, true)
  const started = await bed.start('gateway')
  await eventually(async () => {
    const { rows } = await admin.query('select item from gateway.homologation_proof where operator_id = $1', [
      operatorId,
    ])
    return rows.some(({ item }) => item === 'webhookTested')
  })
  await started.drain()
  await bed.services.webhooks.drain()
  t.match(await alice.call(showHomologation, { input: { operatorId } }), { webhooksAnswered: false, isLive: false })
  t.match((await proofsOf(operatorId)).get('webhookTested'), /^dlv_/)
  const input = { operatorId, environment: 'production', reason: 'homologated' } as const
  t.equal(await refusal(alice.call(issueCredential, { input })), 'SERVICE_UNAVAILABLE')
  const without = { ...input, withoutHomologation: 'agreed' }
  t.equal(await refusal(alice.call(issueCredential, { input: without })), 'AWAITS_APPROVAL')
})

/** One replica in place of all others. */
async function restartWith(masterKeys: string, before: { drain(): Promise<void> }) {
  await before.drain()
  const environment = { ...bed.environment('gateway'), MASTER_KEYS: masterKeys }
  const running = await startService(gateway, loadConfig(gateway.configuration, environment) as never, { clock })
  t.teardown(() => running.drain())
  return running
}

t.test('after a rewrap the former master key is needed no longer, and every secret still signs', async (t) => {
  const { rows } = await admin.query('select id from gateway.credential')
  await replica.drain()
  const both = await restartWith(`${keyOf('second')},${keyOf('first')}`, bed.services.gateway)
  const rewrap = () => alice.call(rewrapSecrets, { input: {} })
  t.same(await rewrap(), { rewrapped: rows.length, keyId: 'second' })
  t.same(await rewrap(), { rewrapped: 0, keyId: 'second' }, 'what is under the newest key is left alone')
  const { addresses } = await restartWith(keyOf('second'), both)
  for (const pair of pairs) t.equal((await send(addresses.baseUrl, pair, { path: '/me' })).status, 200)
})
