import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { OperatorClient, sharedSystem } from '@backoffice/test-kit'
import t from 'tap'
import {
  balanceOf,
  busyOperator,
  createDeposit,
  depositRequest,
  expectStatus,
  fund,
  playerRequest,
  register,
} from '../journey.ts'

// Statements of the customer's document (docs/conformance.md) that no other test has.

t.setTimeout(180_000)
const system = await sharedSystem(t)
const operator = await busyOperator(system)
t.teardown(() => operator.close())
const alice = await system.asTeam('alice')

const publicJson = async (path: string) => (await fetch(`${system.baseUrl}${path}`)).json()
const withdrawal = { amount: '1', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }

/** Every list of values in a JSON document, as text. */
function enumerations(node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) return []
  const own = 'enum' in node && Array.isArray(node.enum) ? [node.enum.filter((value) => value !== null).join(' ')] : []
  return [...own, ...Object.values(node).flatMap(enumerations)]
}

t.test('statuses and decisions are those of the document, word for word', async (t) => {
  const published = enumerations(await publicJson('/openapi.json'))
  for (const values of [
    'ativo suspenso bloqueado autoexcluido encerrado restrito',
    'nao_iniciado pendente em_analise documento_solicitado aprovado reprovado expirado',
    'under_review approved paid rejected cancelled failed',
    'approve reject pay',
    'sandbox production',
  ])
    t.ok(published.includes(values), values)
})

t.test('the public documents are what they say they are', async (t) => {
  t.match(await publicJson('/openapi.json'), { openapi: /^3\.1\./, info: { version: '1.1.0' } })
  t.match(await publicJson('/postman.json'), {
    info: { schema: /v2\.1/ },
    event: [{ listen: 'prerequest', script: { exec: Array } }],
  })
  const snippets = JSON.stringify(await publicJson('/signing-snippets.json'))
  for (const purpose of ['sign-request', 'verify-webhook']) t.match(snippets, purpose)
  const vectors = await publicJson('/test-vectors.json')
  for (const kind of ['requests', 'webhooks']) t.match(JSON.stringify(vectors[kind]), /"signature":"[0-9a-f]{64}"/)
  const changelog = await (await fetch(`${system.baseUrl}/changelog`)).text()
  for (const version of ['1.0.0', '1.1.0']) t.match(changelog, `## ${version}`)
})

t.test('each of the seven operations is refused without an Idempotency-Key, and has no effect', async (t) => {
  const { id } = await register(operator)
  const deposit = await createDeposit(operator, id)
  const requests: readonly (readonly [string, unknown])[] = [
    ['/players', playerRequest()],
    [`/players/${id}/kyc/submissions`, { documentType: 'rg', reference: 'doc-1' }],
    [`/players/${id}/deposits`, depositRequest()],
    [`/deposits/${deposit.id}/confirm`, {}],
    [`/deposits/${deposit.id}/fail`, {}],
    [`/players/${id}/withdrawals`, withdrawal],
    ['/withdrawals/wdr_unknown/cancel', {}],
  ]
  for (const [path, body] of requests) {
    const answer = await operator.post(path, body, { idempotencyKey: null })
    t.match(answer, { status: 400, body: { error: { code: 'IDEMPOTENCY_KEY_REQUIRED' } } }, path)
  }
  t.equal(expectStatus(await operator.get(`/players/${id}/kyc`), 200).kycStatus, 'nao_iniciado')
  expectStatus(await operator.post(`/deposits/${deposit.id}/confirm`), 200)
})

t.test('an operator may send 600 requests a minute unless its rate is set', async (t) => {
  const input = { name: `default rate ${randomUUID().slice(0, 8)}` }
  const { sandbox } = await alice.call(operations.gateway.createOperator, { input })
  const client = new OperatorClient(system.baseUrl, { key: sandbox.key, secret: sandbox.secret ?? '' })
  t.teardown(() => client.close())
  const statuses: number[] = []
  for (let round = 0; round < 13; round++) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.get('/me')))
    statuses.push(...answers.map(({ status }) => status))
  }
  t.equal(statuses.filter((status) => status === 200).length, 600)
  t.equal(statuses.filter((status) => status === 429).length, 50)
})

t.test('a page has 50 items unless another number is asked for', async (t) => {
  const { id } = await register(operator)
  await Promise.all(Array.from({ length: 51 }, () => fund(operator, id, '1.00')))
  const page = expectStatus(await operator.get(`/players/${id}/transactions`), 200)
  t.strictSame(Object.keys(page).sort(), ['data', 'nextCursor'])
  t.equal(page.data.length, 50)
  const next = await operator.get(`/players/${id}/transactions?cursor=${encodeURIComponent(page.nextCursor)}`)
  t.match(expectStatus(next, 200), { data: { length: 1 }, nextCursor: null })
})

t.test('a player is looked up by an externalId of 1 to 128 characters, which must be there', async (t) => {
  for (const query of ['', '?externalId=', `?externalId=${'x'.repeat(129)}`])
    t.match(
      await operator.get(`/players${query}`),
      { status: 422, body: { error: { details: { in: 'query' } } } },
      query,
    )
})

t.test('a failed deposit credits nothing, and a confirmed one cannot be undone', async (t) => {
  const { id } = await register(operator)
  const [failed, confirmed] = [await createDeposit(operator, id, '5.00'), await createDeposit(operator, id, '7.00')]
  t.match(expectStatus(await operator.post(`/deposits/${failed.id}/fail`), 200), { status: 'failed' })
  expectStatus(await operator.post(`/deposits/${confirmed.id}/confirm`), 200)
  for (const step of ['fail', 'confirm'])
    t.equal((await operator.post(`/deposits/${confirmed.id}/${step}`)).body.error.code, 'DEPOSIT_NOT_PENDING', step)
  t.equal(await balanceOf(operator, id), '7.00')
})

t.test('a withdrawal in another currency than the player’s is CURRENCY_MISMATCH', async (t) => {
  const { id } = await register(operator)
  const answer = await operator.post(`/players/${id}/withdrawals`, { ...withdrawal, currency: 'USD' })
  t.equal(answer.body.error.code, 'CURRENCY_MISMATCH')
})

t.test('play asks for KYC, then for ativo, and stops at a self-exclusion', async (t) => {
  const { id } = await register(operator)
  const play = async () => {
    const answer = await operator.post(
      `/players/${id}/game-sessions`,
      { gameId: 'fortune-reels' },
      { idempotencyKey: null },
    )
    return answer.body.error?.code ?? answer.status
  }
  t.equal(await play(), 'KYC_NOT_APPROVED')
  expectStatus(await operator.post(`/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' }), 200)
  t.equal(await play(), 201)
  const { players } = operations
  await alice.call(players.setPlayerStatus, { input: { playerId: id, status: 'suspenso', reason: 'test' } })
  t.equal(await play(), 'PLAYER_NOT_ACTIVE')
  await alice.call(players.setPlayerStatus, { input: { playerId: id, status: 'ativo', reason: 'test' } })
  const until = new Date(Date.now() + 3_600_000).toISOString()
  await alice.call(players.selfExcludePlayer, { input: { playerId: id, until, reason: 'test' } })
  t.equal(await play(), 'RG_BLOCKED')
  t.equal((await operator.post(`/players/${id}/deposits`, depositRequest())).body.error.code, 'RG_BLOCKED')
})
