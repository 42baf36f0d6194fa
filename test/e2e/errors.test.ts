import { randomUUID } from 'node:crypto'
import {
  type ErrorCode,
  operations,
  type PublicErrorCode,
  publicErrorCodes,
  sandboxAmounts,
  sandboxGames,
} from '@backoffice/contracts'
import { eventually, type HttpReply, holdOpen, OperatorClient, sharedSystem } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { createDeposit, depositRequest, expectStatus, fund, isRefusal, playerRequest, register } from '../journey.ts'

const system = await sharedSystem(t)
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

function refused(answer: HttpReply, code: PublicErrorCode, details?: unknown): void {
  reached.add(code)
  isRefusal(t, answer, code, details)
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

  // Whichever of two has claimed the key waits for a lock, so the other finds it running.
  const { id } = await createDeposit(sandbox, approved.id, '10.00')
  const database = new pg.Pool({ connectionString: system.postgresUrl, max: 1 })
  t.teardown(() => database.end())
  const lock = await holdOpen(database, 'select from payments.deposit where id = $1 for update', [id])
  const [body, twin] = [{ reason: 'expired' }, { idempotencyKey: randomUUID() }]
  const twins = [1, 2].map(() => sandbox.post(`/deposits/${id}/fail`, body, twin))
  const running = await Promise.race(twins)
  await lock.rollback()
  refused(running, 'IDEMPOTENCY_IN_PROGRESS')
  t.ok(Number(running.headers['retry-after']) >= 1)
  t.same((await Promise.all(twins)).map(({ status }) => status).sort(), [200, 409])
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

t.test('limits and webhooks', async (t) => {
  const limited = await newOperator('Limited', 3)
  for (let count = 0; count < 3; count++) expectStatus(await limited.sandbox.get('/me'), 200)
  const beyond = await limited.sandbox.get('/me')
  refused(beyond, 'RATE_LIMITED')
  t.ok(Number(beyond.headers['retry-after']) >= 1)
  const small = await newOperator('Small')
  const input = { operatorId: small.id, storedRowsPerDay: 1, reason: 'test' }
  await alice.call(operations.gateway.setOperatorLimits, { input })
  const unstored = await small.sandbox.post('/players', playerRequest())
  refused(unstored, 'DAILY_QUOTA_EXCEEDED', { quota: 'rows', used: 0, limit: 1 })
  t.ok(Number(unstored.headers['retry-after']) >= 1)
  refused(await production.post('/webhooks/test'), 'WEBHOOK_NOT_CONFIGURED')
})

/**
 * Codes that no request can order here: a bug of ours, a client that sends nothing for 20 seconds, and a service that
 * hangs, which exactly-once.test.ts has.
 */
const unreachable: ReadonlySet<ErrorCode> = new Set(['INTERNAL_ERROR', 'REQUEST_TIMEOUT', 'SERVICE_UNAVAILABLE'])

t.test('every published error code was reached by a request above', async (t) => {
  const missed = publicErrorCodes.filter((code) => !reached.has(code) && !unreachable.has(code))
  t.strictSame(missed, [])
})
