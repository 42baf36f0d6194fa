import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { apiPrefix, operations, providerApiPrefix } from '@backoffice/contracts'
import { eventually, newPlayer } from '@backoffice/test-kit'
import t from 'tap'
import { gatewayBed } from '../bed.ts'
import { post, send } from '../signed-client.ts'

// A gateway as a process of its own, whose lines are read as whoever collects logs would read them.
const bed = await gatewayBed(t)
const { createOperator, setReplayProtection } = operations.gateway
const created = await bed.team('alice').call(createOperator, { input: { name: 'Logged' } })
const { operatorId, sandbox } = created

type Line = Readonly<Record<string, unknown>>
const lines: Line[] = []
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const environment = { ...bed.environment('gateway'), LOG_LEVEL: 'info', PORT: '0', HOST: '127.0.0.1' }
const child = spawn(process.execPath, [main], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
const ended = once(child, 'exit')
t.teardown(() => child.kill('SIGKILL'))
createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
const origins = () =>
  lines.filter(({ msg }) => msg === 'listening for HTTP requests').map(({ origin }) => String(origin))
const [origin] = await eventually(() => origins().length === 2 && origins())
const baseUrl = `${origin}${apiPrefix}`
const security = (event: string) => lines.filter((line) => line.log === 'security' && line.event === event)
const lineOf = (event: string, requestId: unknown) =>
  eventually(() => security(event).find((line) => line.requestId === requestId) ?? false)

const player = newPlayer({ name: 'Benedita Souza', email: 'benedita@example.com' })
const key = 'order-77-benedita'

t.test('each refusal says why, whose key it was, from where, and which request', async (t) => {
  const stranger = { key: `bk_live_${randomUUID().replaceAll('-', '')}`, secret: 'x' }
  const cases = [
    [{ ...sandbox, secret: 'sk_wrong' }, {}, 'INVALID_SIGNATURE'],
    [sandbox, { timestamp: '1' }, 'TIMESTAMP_OUT_OF_RANGE'],
    [stranger, {}, 'INVALID_CREDENTIALS'],
  ] as const
  for (const [pair, options, code] of cases) {
    const { headers } = await send(baseUrl, pair, { path: '/me', ...options })
    const known = pair.key === sandbox.key
    const line = await lineOf('refused', headers['x-request-id'])
    t.match(line, { code, keyId: pair.key, address: '127.0.0.1', operation: 'getMe', limited: false, level: 40 })
    t.equal(line.operatorId, known ? operatorId : undefined)
    t.equal(line.environment, known ? 'sandbox' : undefined)
  }
  const misplaced = await send(baseUrl, { key: sandbox.secret ?? '', secret: 'x' }, { path: '/me' })
  const line = await lineOf('refused', misplaced.headers['x-request-id'])
  t.match(line, { code: 'INVALID_CREDENTIALS', keyId: null })
})

t.test('each request that may change something leaves a line, a replay and a refusal too, a read none', async (t) => {
  const first = await post(baseUrl, sandbox, '/players', player, key)
  t.equal(first.status, 201)
  const expected = { operation: 'registerPlayer', operatorId, environment: 'sandbox', keyId: sandbox.key }
  const line = await lineOf('request', first.headers['x-request-id'])
  t.match(line, { ...expected, address: '127.0.0.1', status: 201, replayed: false, durationMs: Number, level: 30 })
  await post(baseUrl, sandbox, '/players', player, key)
  await eventually(() => security('request').length === 2)
  t.match(security('request')[1], { ...expected, requestId: line.requestId, status: 201, replayed: true })
  const again = await post(baseUrl, sandbox, '/players', player)
  const refused = await lineOf('request', again.headers['x-request-id'])
  t.match(refused, { ...expected, status: 409, code: 'PLAYER_ALREADY_EXISTS', replayed: false })
  const malformed = await send(baseUrl, sandbox, { method: 'POST', path: '/players', body: '{}' })
  const unclaimed = await lineOf('request', malformed.headers['x-request-id'])
  t.match(unclaimed, { ...expected, status: 400, code: 'IDEMPOTENCY_KEY_REQUIRED' })
  await send(baseUrl, sandbox, { path: `/players/${first.json.id}/wallet` })
  const marker = await post(baseUrl, sandbox, '/players', player, key)
  await eventually(() => security('request').length === 5)
  t.equal(marker.status, 201)
  t.notOk(security('request').some(({ operation }) => operation === 'getWallet'))
})

t.test('a signature that is used again is a refusal, as well as a request', async (t) => {
  const input = { operatorId, replayProtection: 'on' } as const
  await bed.team('alice').call(setReplayProtection, { input })
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const captured = { method: 'POST', path: '/webhooks/test', timestamp } as const
  const used = await eventually(async () => {
    const answer = await send(baseUrl, sandbox, captured)
    return answer.json.error?.code === 'IDEMPOTENCY_CONFLICT' && answer
  })
  const line = await lineOf('refused', used.headers['x-request-id'])
  t.match(line, { code: 'IDEMPOTENCY_CONFLICT', operatorId, keyId: sandbox.key, operation: 'testWebhook' })
  t.match(await lineOf('request', used.headers['x-request-id']), { status: 409, code: 'IDEMPOTENCY_CONFLICT' })
})

t.test('what a provider sends leaves a line that names it, the brand and the key', async (t) => {
  const alice = bed.team('alice')
  const { createProvider, getOperator, issueProviderKey, setProviderGrant } = operations.gateway
  const { id: providerId } = await alice.call(createProvider, { input: { name: 'Logged' } })
  const { brands } = await alice.call(getOperator, { input: { name: operatorId } })
  const brandId = brands.find((brand) => brand.environment === 'sandbox')?.id ?? ''
  await alice.call(setProviderGrant, { input: { providerId, brandId, grant: 'active' } })
  const pair = await alice.call(issueProviderKey, { input: { providerId, environment: 'sandbox' } })
  const url = `${origins().find((other) => other !== origin)}${providerApiPrefix}/${brandId}`
  const named = { keyId: pair.key, providerId, environment: 'sandbox', address: '127.0.0.1' }
  const bet = { method: 'POST', path: '/bets', body: '{}' } as const
  const { headers } = await send(url, pair, bet)
  const line = await lineOf('request', headers['x-request-id'])
  t.match(line, { ...named, brandId, operatorId, operation: 'placeBet', code: 'VALIDATION_ERROR', durationMs: Number })
  const forged = await send(url, { ...pair, secret: 'sk_wrong' }, bet)
  const refused = await lineOf('refused', forged.headers['x-request-id'])
  t.match(refused, { ...named, code: 'INVALID_SIGNATURE', operation: 'placeBet', level: 40 })
  t.equal(refused.operatorId, undefined)
})

t.test('a proxy that is not trusted is named once', async (t) => {
  const headers = { 'X-Forwarded-For': '203.0.113.7' }
  for (let count = 0; count < 3; count++) await send(baseUrl, sandbox, { path: '/me', headers })
  const warnings = () => lines.filter(({ msg }) => String(msg).includes('TRUSTED_PROXIES'))
  await eventually(() => warnings().length > 0)
  t.match(warnings(), [{ level: 50, peer: '127.0.0.1' }])
  t.equal(warnings().length, 1)
})

t.test('a flood leaves a few lines and a count', async (t) => {
  const before = security('refused').length
  const sent = 200
  for (let batch = 0; batch < sent; batch += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        send(baseUrl, { key: `bk_test_${batch + index}`, secret: 'x' }, { path: '/me' }),
      ),
    )
  // The minute's counts are written when it ends, and when the process does.
  child.kill('SIGTERM')
  await ended
  const shown = security('refused').slice(before)
  const counts = security('refusals')
  t.ok(shown.length <= 20 * counts.length, `${shown.length} lines, of ${counts.length} minutes`)
  t.match(counts.at(-1), { address: '127.0.0.1', operatorId: undefined, codes: { INVALID_CREDENTIALS: Number } })
  const counted = counts.reduce((sum, { count }) => sum + Number(count), 0)
  t.equal(shown.length + counted, sent, 'and none is lost')
})

t.test('no line has a person, a secret, a signature or an Idempotency-Key in it', async (t) => {
  const text = JSON.stringify(lines)
  t.ok(text.includes(sandbox.key))
  const forbidden = [...Object.values(player), key, sandbox.secret ?? '-', created.production?.secret ?? '-', 'sk_']
  t.same(
    forbidden.filter((value) => text.includes(value)),
    [],
  )
  t.notMatch(text, /[0-9a-f]{64}/)
})
