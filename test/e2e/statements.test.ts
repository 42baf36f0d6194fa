import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { sharedSystem } from '@backoffice/test-kit'
import t from 'tap'
import { balanceOf, busyOperator, createDeposit, expectStatus, register } from '../journey.ts'

// Statements of the customer's document (docs/conformance.md) that no other test has.

const system = await sharedSystem(t)
const operator = await busyOperator(system)
t.teardown(() => operator.close())
const alice = await system.asTeam('alice')

const publicJson = async (path: string) => (await fetch(`${system.baseUrl}${path}`)).json()

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

t.test('an operator may send 600 requests a minute unless its rate is set', async (t) => {
  const name = `default rate ${randomUUID().slice(0, 8)}`
  await alice.call(operations.gateway.createOperator, { input: { name } })
  t.match(await alice.call(operations.gateway.getOperator, { input: { name } }), { rateLimitPerMinute: 600 })
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
