import { randomUUID } from 'node:crypto'
import { sharedSystem } from '@backoffice/test-kit'
import t from 'tap'
import { busyOperator, demoOperator, depositRequest, expectStatus, fund, playerRequest, register } from '../journey.ts'

const system = await sharedSystem(t)
const operator = await busyOperator(system)
t.teardown(() => operator.close())

const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const yearsAgo = (years: number, days = 0) => {
  const date = new Date()
  date.setUTCFullYear(date.getUTCFullYear() - years)
  date.setUTCDate(date.getUTCDate() - days)
  return date.toISOString().slice(0, 10)
}

t.test('GET /me is a closed object that tells the environment of the key', async (t) => {
  for (const environment of ['sandbox', 'production'] as const) {
    const me = expectStatus(await demoOperator(system, environment).get('/me'), 200)
    t.strictSame(Object.keys(me).sort(), ['apiVersion', 'brand', 'operator'])
    t.strictSame(Object.keys(me.operator).sort(), ['environment', 'id', 'name'])
    t.strictSame(Object.keys(me.brand).sort(), ['currency', 'id', 'isSandbox', 'name'])
    t.match(me, { apiVersion: '1.1.0', operator: { environment }, brand: { isSandbox: environment === 'sandbox' } })
  }
})

t.test('a player has all its fields and no other, and CPF loses its punctuation', async (t) => {
  const { phone: _phone, ...request } = playerRequest(undefined, '529.982.247-25')
  const player = expectStatus(await operator.post('/players', request), 201)
  const { id, createdAt, ...rest } = player
  t.match(id, /^ply_/)
  t.match(createdAt, iso)
  const expected = { cpf: '52998224725', phone: null, status: 'ativo', kycStatus: 'nao_iniciado', currency: 'BRL' }
  t.strictSame(rest, { ...request, ...expected })
  t.same(expectStatus(await operator.get(`/players?externalId=${request.externalId}`), 200), { data: [player] })
  t.same(expectStatus(await operator.get(`/players?externalId=${randomUUID()}`), 200), { data: [] })
})

const accepted: Record<string, object> = {
  'externalId of 1': { externalId: randomUUID().slice(0, 1) },
  'externalId of 128': { externalId: randomUUID().padEnd(128, 'x') },
  'name of 2': { name: 'Al' },
  'name of 200': { name: 'a'.repeat(200) },
  'phone without +': { phone: '1198765432' },
  'CPF of digits': { cpf: '52998224725' },
  'the 18th birthday': { birthDate: yearsAgo(18, 1) },
}
const refusedFields: Record<string, object> = {
  'externalId of 0': { externalId: '' },
  'externalId of 129': { externalId: 'x'.repeat(129) },
  'name of 1': { name: 'A' },
  'name of 201': { name: 'a'.repeat(201) },
  'e-mail without domain': { email: 'ana@' },
  'e-mail over 254': {
    email: `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(20)}.com`,
  },
  'phone of 9': { phone: '+123456789' },
  'phone of 16': { phone: '+1234567890123456' },
  'CPF with a wrong check digit': { cpf: '52998224726' },
  'CPF of one digit repeated': { cpf: '111.111.111-11' },
  'a day that does not exist': { birthDate: '1990-02-30' },
  'seventeen years': { birthDate: yearsAgo(17) },
  'a number for a name': { name: 12 },
  'a field that nobody knows': { nickname: 'ana' },
  'no e-mail': { email: undefined },
  'no birth date': { birthDate: undefined },
}

t.test('a registration is held to its limits', async (t) => {
  for (const [name, fields] of Object.entries(accepted)) {
    const answer = await operator.post('/players', { ...playerRequest(), ...fields })
    t.equal(answer.status, 201, name)
  }
  for (const [name, fields] of Object.entries(refusedFields)) {
    const answer = await operator.post('/players', { ...playerRequest(), ...fields })
    t.match(answer, { status: 422, body: { error: { code: 'VALIDATION_ERROR', details: { in: 'body' } } } }, name)
    const [issue] = answer.body.error.details.issues
    t.type(issue?.path, 'string', name)
    t.type(issue?.message, 'string', name)
  }
})

t.test('an Idempotency-Key has 8 to 128 letters, digits, _ - : or .', async (t) => {
  for (const idempotencyKey of ['a_b-c:d.', `${randomUUID()}`.padEnd(128, 'k')]) {
    expectStatus(await operator.post('/players', playerRequest(), { idempotencyKey }), 201)
  }
  for (const idempotencyKey of ['seven77', 'k'.repeat(129), 'with space', 'slash/slash']) {
    const answer = await operator.post('/players', playerRequest(), { idempotencyKey })
    t.match(answer, { status: 422, body: { error: { code: 'VALIDATION_ERROR', details: { in: 'headers' } } } })
  }
})

t.test('an amount is a positive decimal string with at most two places', async (t) => {
  const { id } = await register(operator)
  for (const [amount, shown] of [
    ['1', '1.00'],
    ['1.5', '1.50'],
    ['0.01', '0.01'],
    ['9999999999999.99', '9999999999999.99'],
  ] as const) {
    const deposit = expectStatus(await operator.post(`/players/${id}/deposits`, depositRequest(amount)), 201)
    t.match(deposit, { amount: shown, status: 'pending', playerId: id, confirmedAt: null, failedAt: null })
  }
  for (const amount of [
    '0',
    '0.00',
    '-1',
    '+1',
    '1.001',
    '01',
    '1.',
    '.5',
    '1e3',
    '1,00',
    ' 1',
    '',
    '10000000000000',
  ]) {
    const answer = await operator.post(`/players/${id}/deposits`, depositRequest(amount))
    t.match(answer, { status: 422, body: { error: { code: 'VALIDATION_ERROR' } } }, `amount ${amount}`)
  }
  const number = await operator.post(`/players/${id}/deposits`, { ...depositRequest(), amount: 1 })
  t.equal(number.body.error.code, 'VALIDATION_ERROR')
})

t.test('a page has 1 to 200 items; a cursor of another player or altered is refused', async (t) => {
  const { id } = await register(operator)
  const other = await register(operator)
  for (const amount of ['1.00', '2.00']) await fund(operator, id, amount)
  const page = (player: string, query: string) => operator.get(`/players/${player}/transactions${query}`)
  const first = expectStatus(await page(id, '?limit=1'), 200)
  t.equal(first.data.length, 1)
  const cursor = encodeURIComponent(first.nextCursor)
  const second = expectStatus(await page(id, `?limit=1&cursor=${cursor}`), 200)
  t.match(second, { data: [{ amount: '1.00', balanceAfter: '1.00', type: 'DEPOSIT' }], nextCursor: null })
  t.match(second.data[0].id, /^led_/)
  expectStatus(await page(id, '?limit=200'), 200)
  for (const query of ['?limit=0', '?limit=201', '?limit=1.5', '?limit=ten', '?cursor=', `?cursor=${cursor}x`]) {
    t.match(await page(id, query), { status: 422, body: { error: { details: { in: 'query' } } } }, query)
  }
  t.equal((await page(other.id, `?cursor=${cursor}`)).status, 422)
})

t.test('the public routes need no key, and every answer carries X-Request-Id', async (t) => {
  const routes: Record<string, string> = {
    '/openapi.json': 'application/json',
    '/changelog': 'text/markdown',
    '/postman.json': 'application/json',
    '/signing-snippets.json': 'application/json',
    '/test-vectors.json': 'application/json',
    '/docs': 'text/html',
  }
  for (const [path, type] of Object.entries(routes)) {
    const answer = await fetch(`${system.baseUrl}${path}`)
    t.equal(answer.status, 200, path)
    t.match(answer.headers.get('content-type'), type)
    t.ok(answer.headers.get('x-request-id'), path)
  }
  t.ok((await fetch(`${system.baseUrl}/nothing`)).headers.get('x-request-id'))
})

t.test('KYC: a submission is under analysis, the decision is seen everywhere', async (t) => {
  const { id } = await register(operator)
  t.match(expectStatus(await operator.get(`/players/${id}/kyc`), 200), { kycStatus: 'nao_iniciado', submissions: [] })
  const submission = { documentType: 'rg', reference: 'document-1' }
  t.match(expectStatus(await operator.post(`/players/${id}/kyc/submissions`, submission), 201), {
    submission,
    kycStatus: 'em_analise',
  })
  for (const status of ['documento_solicitado', 'reprovado', 'expirado', 'pendente', 'em_analise', 'aprovado']) {
    const decided = expectStatus(await operator.post(`/sandbox/players/${id}/kyc/decision`, { status }), 200)
    t.match(decided, { playerId: id, kycStatus: status })
  }
  const refused = await operator.post(`/sandbox/players/${id}/kyc/decision`, { status: 'nao_iniciado' })
  t.equal(refused.body.error.code, 'VALIDATION_ERROR')
})

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

t.test('a player is looked up by an externalId of 1 to 128 characters, which must be there', async (t) => {
  for (const query of ['', '?externalId=', `?externalId=${'x'.repeat(129)}`])
    t.match(
      await operator.get(`/players${query}`),
      { status: 422, body: { error: { details: { in: 'query' } } } },
      query,
    )
})
