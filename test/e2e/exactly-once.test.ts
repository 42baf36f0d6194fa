import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook } from '@backoffice/client'
import { operations, residentServices } from '@backoffice/contracts'
import {
  drawn,
  eventually,
  OperatorClient,
  reconcile,
  serveHttp,
  shortPatience,
  startSystem,
} from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { endLeases } from '../chaos/oracle.ts'
import {
  createDeposit,
  expectStatus,
  fund,
  isRefusal,
  playerRequest,
  register,
  statementOf,
  sumOf,
} from '../journey.ts'

// The tests of a system that dies, in parts and as a whole.
const killed = drawn(['wallet', 'payments', 'gateway', 'players'] as const)
const deaths = drawn(['NATS', 'PostgreSQL', 'hung'])
const when = (death: string) => ({ skip: !deaths.includes(death) && 'not drawn: every-death.test.ts has it' })
const environment = { ...shortPatience, WEBHOOK_BACKOFF_BASE_MS: '200', LOG_LEVEL: 'trace' }
const system = await startSystem(t, { backends: 'own', environment })
const alice = await system.asTeam('alice')
const { operatorId, sandbox } = await alice.call(operations.gateway.createOperator, {
  input: { name: 'busy', rateLimitPerMinute: 1_000_000 },
})
const operator = new OperatorClient(system.baseUrl, { key: sandbox.key, secret: sandbox.secret ?? '' })
t.teardown(() => operator.close())

/** Events as the operator's server takes them: verified with the published client. */
const received: ReturnType<typeof verifyWebhook>[] = []
const url = await serveHttp(t, async (request, response) => {
  const rawBody = await buffer(request)
  received.push(verifyWebhook({ secret: sandbox.webhookSecret ?? '', headers: request.headers, rawBody }))
  response.writeHead(204).end()
})
await alice.call(operations.webhooks.setWebhookUrl, { input: { operatorId, environment: 'sandbox', url } })
const confirmed = (depositId: string) =>
  received.filter(({ type, data }) => type === 'deposit.confirmed' && (data as { id: string }).id === depositId)

/** The first player, of whom no log may tell anything but ids. */
const person = playerRequest(undefined, '529.982.247-25')
await fund(operator, expectStatus(await operator.post('/players', person), 201).id, '1.00')

const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

/** Repeats one request under one key, as an operator does, until it has this status. */
async function untilAnswered(path: string, body: unknown, status: number) {
  const idempotencyKey = randomUUID()
  const answered = await eventually(async () => {
    const answer = await operator.post(path, body, { idempotencyKey }).catch(() => undefined)
    return answer?.status === status ? answer : false
  })
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
  for (const name of killed) {
    const pid = system.pid(name)
    process.kill(pid, 'SIGKILL')
    await eventually(() => system.pid(name) !== pid)
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
  t.equal((await reconcile(alice)).differencesTotal, 0)
})

t.test('a service that hangs is SERVICE_UNAVAILABLE, and the same key finishes later', when('hung'), async (t) => {
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
      await eventually(() => system.pid('games') !== pid)
      await eventually(async () => (await thumbnail().catch(() => 0)) === 200)
    },
  )
  const away = await refusal
  process.kill(pid, 'SIGCONT')
  isRefusal(t, away, 'SERVICE_UNAVAILABLE')
  t.ok(Number(away.headers['retry-after']) >= 1)
  await eventually(async () => (await confirm()).status === 200)
})

t.test('NATS dies and loses the stream before anybody read it: outboxes bring every event', when('NATS'), async (t) => {
  const { id: playerId } = await register(operator)
  const deposit = await createDeposit(operator, playerId)
  // It takes longer to start again than the next lines: nobody hears the event before the stream is gone.
  process.kill(system.pid('webhooks'), 'SIGKILL')
  expectStatus(await operator.post(`/deposits/${deposit.id}/confirm`), 200)
  await system.crash('nats')
  await eventually(() => confirmed(deposit.id).length === 1)
  t.equal(new Set(confirmed(deposit.id).map(({ id }) => id)).size, 1)
})

t.test('PostgreSQL dies in between: events go on arriving, once each', when('PostgreSQL'), async (t) => {
  const { id: playerId } = await register(operator)
  await system.crash('postgres')
  const before = received.length
  await eventually(async () => {
    await fund(operator, playerId, '10.00')
    return true
  })
  await eventually(() => received.slice(before).some(({ type }) => type === 'deposit.confirmed'))
  const ids = received.slice(before).map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
})

t.test('no log names a person or a secret, at any level', async (t) => {
  const { name, email, cpf, phone, birthDate, externalId } = person
  const secrets = [sandbox.secret, sandbox.webhookSecret].filter((value) => value !== null)
  for (const service of residentServices) {
    const text = readFileSync(join(system.dir, 'logs', `${service}.log`), 'utf8')
    t.match(text, '"level":30', `${service} has logged`)
    for (const value of [name, email, cpf, '52998224725', phone, birthDate, externalId, ...secrets])
      t.notOk(text.includes(value), `${service}: a value of a person or a secret`)
  }
})
