import { randomUUID } from 'node:crypto'
import {
  detailsOf,
  type ErrorCode,
  errorAnchor,
  errorCatalogue,
  operations,
  type PublicErrorCode,
  publicErrorCodes,
  sandboxAmounts,
  sandboxGames,
} from '@backoffice/contracts'
import { eventually, type HttpReply, OperatorClient, startSystem } from '@backoffice/test-kit'
import { Value } from '@sinclair/typebox/value'
import t from 'tap'
import { createDeposit, demoOperator, depositRequest, expectStatus, fund, playerRequest, register } from './journey.ts'

const system = await startSystem(t, { services: 'processes' })
const alice = await system.asTeam('alice')
const newOperator = async (name: string, rateLimitPerMinute = 1_000_000) => {
  const created = await alice.call(operations.gateway.createOperator, { input: { name, rateLimitPerMinute } })
  const open = (environment: 'sandbox' | 'production') => {
    const { key = '', secret } = created[environment] ?? {}
    return new OperatorClient(system.baseUrl, { key, secret: secret ?? '' })
  }
  return { id: created.operatorId, sandbox: open('sandbox'), production: open('production') }
}
const { sandbox, production } = await newOperator('Errors')

const reached = new Set<ErrorCode>()

/** Notes a refusal, and holds it to the catalogue and the envelope. */
function refused(answer: HttpReply, code: PublicErrorCode, details?: unknown): void {
  reached.add(code)
  const { error } = answer.body ?? {}
  t.equal(`${answer.status} ${error?.code}`, `${errorCatalogue[code].status} ${code}`)
  t.equal(error?.requestId, answer.headers['x-request-id'], `${code}: requestId is X-Request-Id`)
  t.match(answer.headers['content-type'], 'application/json')
  t.equal(answer.headers.link, `</api/v1/docs#${errorAnchor(code)}>; rel="help"`)
  if (details !== undefined) t.match(error.details, details)
  const entry = detailsOf(code)
  if (error?.details === undefined) t.not(entry?.always, true, `${code} has details`)
  else t.strictSame(entry && [...Value.Errors(entry.schema, error.details)], [], `${code}: details as in the catalogue`)
}

const player = await register(sandbox)
const approved = await register(sandbox)
expectStatus(await sandbox.post(`/sandbox/players/${approved.id}/kyc/decision`, { status: 'aprovado' }), 200)
const withdrawal = (amount: string) => ({ amount, currency: 'BRL', method: 'pix', destination: 'ana@example.com' })

t.test('authentication', async () => {
  refused(await sandbox.get('/me', { headers: { 'X-Operator-Key': null } }), 'INVALID_CREDENTIALS')
  refused(await sandbox.get('/me', { headers: { 'X-Signature': null } }), 'INVALID_SIGNATURE')
  refused(await sandbox.get('/me', { headers: { 'X-Timestamp': null } }), 'TIMESTAMP_OUT_OF_RANGE')
  const guarded = await newOperator('Guarded')
  const input = { operatorId: guarded.id, reason: 'test' }
  await alice.call(operations.gateway.setOperatorLimits, { input: { ...input, allowedAddresses: ['203.0.113.1'] } })
  refused(await guarded.sandbox.get('/me'), 'FORBIDDEN_IP')
  await alice.call(operations.gateway.suspendOperator, { input })
  const suspended = await eventually(async () => {
    const answer = await guarded.sandbox.get('/me')
    return answer.body.error.code === 'OPERATOR_SUSPENDED' ? answer : false
  })
  if (suspended) refused(suspended, 'OPERATOR_SUSPENDED')
})

t.test('routes, bytes and headers', async () => {
  refused(await sandbox.get('/nothing'), 'NOT_FOUND')
  refused(await sandbox.send('DELETE', '/me'), 'METHOD_NOT_ALLOWED')
  refused(await sandbox.post('/players', 'x'.repeat(70_000)), 'PAYLOAD_TOO_LARGE')
  refused(await sandbox.post('/players', {}, { headers: { 'Content-Type': 'text/plain' } }), 'UNSUPPORTED_MEDIA_TYPE')
  refused(await sandbox.get('/me', { headers: { 'X-Large': 'x'.repeat(20_000) } }), 'HEADERS_TOO_LARGE')
  refused(await sandbox.post('/players', {}), 'VALIDATION_ERROR', { in: 'body' })
  refused(await sandbox.get(`/players/${player.id}/transactions?cursor=forged`), 'VALIDATION_ERROR', { in: 'query' })
  refused(await production.post(`/sandbox/players/${player.id}/kyc/decision`, { status: 'aprovado' }), 'SANDBOX_ONLY')
})

t.test('idempotency', async (t) => {
  refused(await sandbox.post('/players', playerRequest(), { idempotencyKey: null }), 'IDEMPOTENCY_KEY_REQUIRED')
  const idempotencyKey = randomUUID()
  await sandbox.post('/players', playerRequest(), { idempotencyKey })
  refused(await sandbox.post('/players', playerRequest(), { idempotencyKey }), 'IDEMPOTENCY_CONFLICT')
  const body = playerRequest()
  const key = randomUUID()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => sandbox.post('/players', body, { idempotencyKey: key })),
  )
  const running = answers.find(({ status }) => status === 409)
  if (running !== undefined) {
    refused(running, 'IDEMPOTENCY_IN_PROGRESS')
    t.ok(Number(running.headers['retry-after']) >= 1)
  }
})

t.test('players, KYC and games', async () => {
  const taken = playerRequest()
  const { id } = expectStatus(await sandbox.post('/players', taken), 201)
  refused(await sandbox.post('/players', taken), 'PLAYER_ALREADY_EXISTS', { playerId: id })
  refused(await sandbox.get('/players/ply_unknown/wallet'), 'PLAYER_NOT_FOUND')
  refused(
    await sandbox.post(`/players/${approved.id}/kyc/submissions`, { documentType: 'rg', reference: 'x' }),
    'KYC_ALREADY_APPROVED',
  )
  const open = (playerId: string, gameId: string) => sandbox.post(`/players/${playerId}/game-sessions`, { gameId })
  refused(await open(approved.id, 'no-such-game'), 'GAME_NOT_FOUND')
  refused(await open(player.id, 'fortune-reels'), 'KYC_NOT_APPROVED')
  refused(await open(approved.id, sandboxGames.rgBlocked), 'RG_BLOCKED')
  refused(await open(approved.id, sandboxGames.providerUnavailable), 'PROVIDER_UNAVAILABLE')
  await alice.call(operations.players.setPlayerStatus, {
    input: { playerId: id, status: 'bloqueado', reason: 'test' },
  })
  refused(await sandbox.post(`/players/${id}/deposits`, depositRequest()), 'PLAYER_NOT_ACTIVE')
})

t.test('deposits and withdrawals', async () => {
  const path = `/players/${approved.id}`
  const request = depositRequest()
  const deposit = expectStatus(await sandbox.post(`${path}/deposits`, request), 201)
  refused(await sandbox.post(`${path}/deposits`, request), 'DEPOSIT_ALREADY_EXISTS', { depositId: deposit.id })
  refused(await sandbox.post(`${path}/deposits`, { ...depositRequest(), currency: 'USD' }), 'CURRENCY_MISMATCH')
  refused(await sandbox.post(`${path}/deposits`, depositRequest(sandboxAmounts.depositBlocked)), 'RG_BLOCKED')
  refused(await sandbox.post('/deposits/dep_unknown/confirm'), 'DEPOSIT_NOT_FOUND')
  expectStatus(await sandbox.post(`/deposits/${deposit.id}/fail`, { reason: 'expired' }), 200)
  refused(await sandbox.post(`/deposits/${deposit.id}/confirm`), 'DEPOSIT_NOT_PENDING', {
    depositId: deposit.id,
    status: 'failed',
  })

  await fund(sandbox, approved.id, '50.00')
  refused(await sandbox.post(`${path}/withdrawals`, withdrawal('50.01')), 'INSUFFICIENT_FUNDS')
  refused(await sandbox.get('/withdrawals/wdr_unknown'), 'WITHDRAWAL_NOT_FOUND')
  const { id } = expectStatus(await sandbox.post(`${path}/withdrawals`, withdrawal('10')), 201)
  refused(await sandbox.post(`/sandbox/withdrawals/${id}/decision`, { decision: 'pay' }), 'WITHDRAWAL_INVALID_STATE')
  expectStatus(await sandbox.post(`/withdrawals/${id}/cancel`), 200)
  refused(await sandbox.post(`/withdrawals/${id}/cancel`), 'WITHDRAWAL_NOT_CANCELLABLE', { status: 'cancelled' })
})

t.test('limits, webhooks and services that are away', async (t) => {
  const limited = await newOperator('Limited', 3)
  for (let count = 0; count < 3; count++) expectStatus(await limited.sandbox.get('/me'), 200)
  const beyond = await limited.sandbox.get('/me')
  refused(beyond, 'RATE_LIMITED')
  t.ok(Number(beyond.headers['retry-after']) >= 1)
  refused(await demoOperator(system, 'production').post('/webhooks/test'), 'WEBHOOK_NOT_CONFIGURED')
  const deposit = await createDeposit(sandbox, approved.id, '1.00')
  // A process that dies is back before the gateway stops trying; one that hangs is not.
  const pid = system.pid('payments')
  process.kill(pid, 'SIGSTOP')
  const idempotencyKey = randomUUID()
  const away = await sandbox.post(`/deposits/${deposit.id}/confirm`, {}, { idempotencyKey })
  process.kill(pid, 'SIGCONT')
  refused(away, 'SERVICE_UNAVAILABLE')
  t.ok(Number(away.headers['retry-after']) >= 1)
  await eventually(
    async () => (await sandbox.post(`/deposits/${deposit.id}/confirm`, {}, { idempotencyKey })).status === 200,
    30_000,
  )
})

/** Codes that no request can order: a bug of ours, and a client that sends nothing for 20 seconds. */
const unreachable: ReadonlySet<ErrorCode> = new Set(['INTERNAL_ERROR', 'REQUEST_TIMEOUT'])

t.test('the public games may hang or die: the API does not notice, and they come back where they were', async (t) => {
  const open = async () =>
    new URL(expectStatus(await sandbox.post(`/players/${approved.id}/game-sessions`, game), 201).gameUrl)
  const game = { gameId: 'fortune-reels' }
  const { origin } = await open()
  const thumbnail = () => fetch(`${origin}/thumbnails/fortune-reels.svg`).then(({ status }) => status)
  t.equal(await thumbnail(), 200)

  const pid = system.pid('games')
  process.kill(pid, 'SIGSTOP')
  await fund(sandbox, player.id, '10.00')
  t.equal((await open()).origin, origin)
  t.ok(expectStatus(await sandbox.get('/games'), 200).data.length > 0)
  process.kill(pid, 'SIGKILL')
  await eventually(() => system.pid('games') !== pid, 30_000)
  await eventually(async () => (await thumbnail().catch(() => 0)) === 200, 30_000)
})

t.test('every published error code was reached by a request above', async (t) => {
  const missed = publicErrorCodes.filter((code) => !reached.has(code) && !unreachable.has(code))
  t.strictSame(missed, [])
})
