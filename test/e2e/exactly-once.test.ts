import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, reconcile, startSystem } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { endLeases } from '../chaos/oracle.ts'
import {
  balanceOf,
  busyOperator,
  createDeposit,
  depositRequest,
  expectStatus,
  fund,
  playerRequest,
  register,
  statementOf,
  sumOf,
} from '../journey.ts'
import { isRefusal } from './refusal.ts'
import { startTraceCollector, traceTests, tracing } from './trace-tests.ts'
import { webhookTests } from './webhook-tests.ts'

t.setTimeout(240_000)
// The tests of a system that dies, in parts and as a whole, and exports its traces: it is started for this file alone.
const collector = await startTraceCollector(t)
const environment = { WEBHOOK_BACKOFF_BASE_MS: '200', ...tracing(collector) }
const system = await startSystem(t, { backends: 'own', environment })
const operator = await busyOperator(system)
t.teardown(() => operator.close())

t.test('traces and logs', (t) => traceTests(t, system, collector))

const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

t.test('twenty parallel requests with one Idempotency-Key make one effect', async (t) => {
  const { id: playerId } = await register(operator)
  const body = depositRequest()
  const idempotencyKey = randomUUID()
  const path = `/players/${playerId}/deposits`
  const answers = await times(20, () => operator.post(path, body, { idempotencyKey }))
  const created = answers.filter((answer) => answer.status === 201)
  const waiting = answers.filter((answer) => answer.status === 409)
  t.equal(created.length + waiting.length, 20)
  t.ok(created.length >= 1)
  t.equal(new Set(created.map((answer) => answer.body.id)).size, 1)
  t.ok(waiting.every((answer) => answer.body.error.code === 'IDEMPOTENCY_IN_PROGRESS'))
  t.ok(waiting.every((answer) => Number(answer.headers['retry-after']) > 0))
})

t.test('a replay is the first answer byte for byte', async (t) => {
  const body = playerRequest()
  const idempotencyKey = randomUUID()
  const first = await operator.post('/players', body, { idempotencyKey })
  const replay = await operator.post('/players', body, { idempotencyKey })
  t.equal(first.headers['idempotent-replayed'], undefined)
  t.equal(replay.headers['idempotent-replayed'], 'true')
  t.equal(replay.status, first.status)
  t.same(replay.bytes, first.bytes)
  t.equal(replay.headers['x-request-id'], first.headers['x-request-id'])
  t.equal(replay.headers['content-type'], first.headers['content-type'])
})

t.test('a refusal is replayed too, and another body under its key is a conflict', async (t) => {
  const { id: playerId } = await register(operator)
  const path = `/players/${playerId}/deposits`
  const wrong = { ...depositRequest(), currency: 'USD' }
  const idempotencyKey = randomUUID()
  const first = await operator.post(path, wrong, { idempotencyKey })
  t.match(first, { status: 422, body: { error: { code: 'CURRENCY_MISMATCH' } } })
  const replay = await operator.post(path, wrong, { idempotencyKey })
  t.same(replay.bytes, first.bytes)
  const conflict = await operator.post(path, { ...wrong, currency: 'BRL' }, { idempotencyKey })
  t.match(conflict, { status: 409, body: { error: { code: 'IDEMPOTENCY_CONFLICT' } } })
})

t.test('of parallel registrations with one externalId, one succeeds and the rest name its player', async (t) => {
  const body = playerRequest()
  const answers = await times(12, () => operator.post('/players', body))
  const created = answers.filter((answer) => answer.status === 201)
  t.equal(created.length, 1)
  for (const answer of answers.filter((one) => one.status !== 201)) {
    t.match(answer, { status: 409, body: { error: { code: 'PLAYER_ALREADY_EXISTS' } } })
    t.equal(answer.body.error.details.playerId, created[0]?.body.id)
  }
})

t.test('of parallel deposits with one externalReference, one succeeds and the rest name it', async (t) => {
  const { id: playerId } = await register(operator)
  const body = depositRequest()
  const answers = await times(12, () => operator.post(`/players/${playerId}/deposits`, body))
  const created = answers.filter((answer) => answer.status === 201)
  t.equal(created.length, 1)
  for (const answer of answers.filter((one) => one.status !== 201)) {
    t.match(answer, { status: 409, body: { error: { code: 'DEPOSIT_ALREADY_EXISTS' } } })
    t.equal(answer.body.error.details.depositId, created[0]?.body.id)
  }
})

t.test('confirm against fail has one winner, and the wallet agrees', async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const { id: playerId } = await register(operator)
    const { id } = await createDeposit(operator, playerId, '10.00')
    const answers = await times(6, (index) => operator.post(`/deposits/${id}/${index % 2 === 0 ? 'confirm' : 'fail'}`))
    const won = answers.filter((answer) => answer.status === 200)
    t.equal(won.length, 1)
    t.ok(answers.every((answer) => answer.status === 200 || answer.body.error.code === 'DEPOSIT_NOT_PENDING'))
    const credited = won[0]?.body.status === 'confirmed'
    t.equal(await balanceOf(operator, playerId), credited ? '10.00' : '0.00')
    t.equal((await statementOf(operator, playerId)).length, credited ? 1 : 0)
  }
})

/** Repeats one request under one key, as an operator does, until it has this status. */
async function untilAnswered(path: string, body: unknown, status: number) {
  const idempotencyKey = randomUUID()
  const answered = await eventually(async () => {
    const answer = await operator.post(path, body, { idempotencyKey }).catch(() => undefined)
    return answer?.status === status ? answer : false
  }, 90_000)
  if (!answered) throw new Error(`${path} was never answered with ${status}`)
  return answered.body
}

t.test('whatever service is killed, retries with the same keys move every amount once', async (t) => {
  const { id: playerId } = await register(operator)
  expectStatus(await operator.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' }), 200)
  await fund(operator, playerId, '20.00')
  const deposits = await times(20, () => createDeposit(operator, playerId, '1.00'))
  const confirmed = times(deposits.length, (index) =>
    untilAnswered(`/deposits/${deposits[index]?.id}/confirm`, {}, 200),
  )
  const destination = { currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
  const requested = times(5, () =>
    untilAnswered(`/players/${playerId}/withdrawals`, { amount: '2.00', ...destination }, 201),
  )
  // Webhooks dies below, together with its stream.
  for (const name of ['wallet', 'payments', 'gateway', 'players'] as const) {
    const pid = system.pid(name)
    process.kill(pid, 'SIGKILL')
    await eventually(() => system.pid(name) !== pid, 30_000)
  }
  // A claim and a row of an outbox wait for the lease of who was killed.
  const sql = new pg.Pool({ connectionString: system.postgresUrl, max: 1 })
  await endLeases({ sql })
  await sql.end()
  t.same(new Set((await confirmed).map(({ status }) => status)), new Set(['confirmed']))
  t.equal(new Set((await requested).map(({ id }) => id)).size, 5)
  const wallet = expectStatus(await operator.get(`/players/${playerId}/wallet`), 200)
  t.match(wallet, { available: '40.00', withdrawable: '30.00' })
  const statement = await statementOf(operator, playerId)
  t.equal(statement.length, 21)
  t.equal(sumOf(statement.map(({ amount }) => amount)), 4000n)
  t.equal((await reconcile(await system.asTeam('alice'))).differencesTotal, 0)
})

t.test('a service that hangs is SERVICE_UNAVAILABLE, and the same key finishes later', async (t) => {
  const { id: playerId } = await register(operator)
  const deposit = await createDeposit(operator, playerId, '1.00')
  // A process that dies is back before the gateway stops trying; one that hangs is not.
  const pid = system.pid('payments')
  process.kill(pid, 'SIGSTOP')
  const idempotencyKey = randomUUID()
  const confirm = () => operator.post(`/deposits/${deposit.id}/confirm`, {}, { idempotencyKey })
  const refusal = confirm()
  await t.test(
    'meanwhile the public games may hang or die: sessions are opened, and they come back where they were',
    async (t) => {
      const { id } = await register(operator)
      expectStatus(await operator.post(`/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' }), 200)
      const open = async () =>
        new URL(expectStatus(await operator.post(`/players/${id}/game-sessions`, game), 201).gameUrl)
      const game = { gameId: 'fortune-reels' }
      const { origin } = await open()
      const thumbnail = () => fetch(`${origin}/thumbnails/fortune-reels.svg`).then(({ status }) => status)
      t.equal(await thumbnail(), 200)

      const pid = system.pid('games')
      process.kill(pid, 'SIGSTOP')
      t.equal((await open()).origin, origin)
      t.ok(expectStatus(await operator.get('/games'), 200).data.length > 0)
      process.kill(pid, 'SIGKILL')
      await eventually(() => system.pid('games') !== pid, 30_000)
      await eventually(async () => (await thumbnail().catch(() => 0)) === 200, 30_000)
    },
  )
  const away = await refusal
  process.kill(pid, 'SIGCONT')
  isRefusal(t, away, 'SERVICE_UNAVAILABLE')
  t.ok(Number(away.headers['retry-after']) >= 1)
  await eventually(async () => (await confirm()).status === 200, 30_000)
})

t.test('webhooks', (t) => webhookTests(t, system))

// The last one: it ends the system.
t.test('a stack that is stopped under load answers what it has taken, and no answer is a 5xx', async (t) => {
  const statuses = new Map<number | string, number>()
  const count = (outcome: number | string) => statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
  const enough = Promise.withResolvers<void>()
  let closed = false
  const client = async (number: number) => {
    for (let index = 0; !closed; index += 1) {
      try {
        const answer = await operator.post('/players', playerRequest(`${number}-${index}`))
        count(answer.status)
        if (statuses.get(201) === 100) enough.resolve()
      } catch (error) {
        count((error as { code?: string }).code ?? String(error))
        closed = true
      }
    }
  }
  const clients = Array.from({ length: 16 }, (_, number) => client(number))
  await enough.promise
  process.kill(Number(readFileSync(join(system.dir, 'supervisor.pid'), 'utf8')), 'SIGTERM')
  await Promise.all(clients)

  t.same(
    [...statuses.keys()].filter((outcome) => typeof outcome === 'number'),
    [201],
  )
})
