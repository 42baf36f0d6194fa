import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { operations, residentServices } from '@backoffice/contracts'
import { eventually, OperatorClient, postgres, serveHttp, startSystem } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { createDeposit, demoOperator, expectStatus, playerRequest } from '../journey.ts'
import { team } from './team.ts'
import { type CollectedSpan, startTraceCollector } from './trace-collector.ts'

const collector = await startTraceCollector(t)
// A PostgreSQL that outlives the system can be asked what was done.
process.env.POSTGRES_URL = await postgres()
const system = await startSystem(t, {
  environment: {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_BSP_SCHEDULE_DELAY: '200',
    LOG_LEVEL: 'trace',
  },
})
const operator = demoOperator(system)
t.teardown(() => operator.close())

const receiver = await serveHttp(t, (request, response) => {
  request.resume().on('end', () => response.writeHead(204).end())
})
const url = `${receiver}/hook?token=of-the-operator`
await team(system, 'alice', 'webhook', 'set', '--operator', 'demo', '--env', 'sandbox', '--url', url)

const person = playerRequest(undefined, '529.982.247-25')
const player = expectStatus(await operator.post('/players', person), 201)
const deposit = await createDeposit(operator, player.id)
expectStatus(await operator.post(`/deposits/${deposit.id}/confirm`), 200)

/** The confirmation's trace, once it has reached the receiver. */
const trace = await eventually(() => {
  const root = collector.spans.find(({ name }) => name === 'POST /api/v1/deposits/:depositId/confirm')
  const spans = collector.spans.filter(({ traceId }) => traceId === root?.traceId)
  // A parent may arrive after its children: each service sends by itself.
  const known = new Set(['', ...spans.map(({ spanId }) => spanId)])
  if (spans.some(({ parentSpanId }) => !known.has(parentSpanId))) return false
  return (
    spans.some(({ name }) => name === 'deliver webhook') && spans.some(({ service }) => service === 'wallet') && spans
  )
}, 30_000)

const find = (service: string, name: string, kind: number) =>
  trace.find((span) => span.service === service && span.name === name && span.kind === kind)
const [server, client, producer, consumer] = [2, 3, 4, 5] as const

t.test('one confirmation is one trace: gateway, payments, wallet, outbox, stream and webhook', async (t) => {
  const path: readonly (readonly [string, string, number])[] = [
    ['gateway', 'POST /api/v1/deposits/:depositId/confirm', server],
    ['gateway', 'payments.confirmDeposit', client],
    ['payments', 'payments.confirmDeposit', server],
    ['payments', 'wallet.creditAccount', client],
    ['wallet', 'wallet.creditAccount', server],
    ['payments', 'publish deposit.confirmed', producer],
    ['webhooks', 'consume deposit.confirmed', consumer],
    ['webhooks', 'deliver webhook', client],
  ]
  for (const [service, name, kind] of path) t.ok(find(service, name, kind), `${service}: ${name}`)
})

t.test('the SQL of each service stands in it, below what caused it', async (t) => {
  for (const service of ['gateway', 'payments', 'wallet', 'webhooks']) {
    const statements = trace.filter(
      (span) => span.service === service && span.attributes['db.system.name'] !== undefined,
    )
    t.ok(statements.length > 0, service)
    t.ok(statements.every(({ parentSpanId }) => trace.some(({ spanId }) => spanId === parentSpanId)))
  }
})

t.test('the HTTP request to the receiver is below its attempt', async (t) => {
  const attempt = find('webhooks', 'deliver webhook', client) as CollectedSpan
  const request = await eventually(
    () =>
      collector.spans.find(({ parentSpanId, service }) => service === 'webhooks' && parentSpanId === attempt.spanId) ??
      false,
  )
  t.equal(request.attributes['http.request.method'], 'POST')
  t.equal(request.attributes['http.response.status_code'], 204)
})

const secrets = Object.values(system.operators[0]?.sandbox ?? {}).filter((value) => !value.startsWith('bk_'))
const { name, email, cpf, phone, birthDate } = person
const ofPerson = [name, email, cpf, '52998224725', phone, birthDate]

t.test('no span names a person, a secret, or what stands behind an address', async (t) => {
  await operator.get(`/players?externalId=${person.externalId}`)
  await eventually(() => collector.spans.some(({ name }) => name === 'GET /api/v1/players'))
  const text = JSON.stringify(collector.spans)
  for (const value of [...ofPerson, ...secrets]) t.notOk(text.includes(value), 'a value of a person or a secret')
  t.notOk(text.includes('of-the-operator'), "the query of the operator's URL")
  t.notOk(text.includes(person.externalId), 'the query of a request')
})

t.test('no log names a person or a secret, at any level', async (t) => {
  for (const service of residentServices) {
    const text = readFileSync(join(system.dir, 'logs', `${service}.log`), 'utf8')
    t.match(text, '"level":30', `${service} has logged`)
    for (const value of [...ofPerson, person.externalId, ...secrets])
      t.notOk(text.includes(value), `${service}: a value of a person or a secret`)
  }
})

// The last one: it ends the system.
t.test('a stack that is stopped under load answers what it has taken, and no answer is a 5xx', async (t) => {
  const alice = await system.asTeam('alice')
  const input = { name: 'busy', rateLimitPerMinute: 1_000_000 }
  const { sandbox } = await alice.call(operations.gateway.createOperator, { input })
  const busy = new OperatorClient(system.baseUrl, { key: sandbox.key, secret: sandbox.secret ?? '' })
  t.teardown(() => busy.close())

  const statuses = new Map<number | string, number>()
  const count = (outcome: number | string) => statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
  const enough = Promise.withResolvers<void>()
  let closed = false
  const client = async (number: number) => {
    for (let index = 0; !closed; index += 1) {
      try {
        const answer = await busy.post('/players', playerRequest(`${number}-${index}`))
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

  const answered = [...statuses.keys()].filter((outcome) => typeof outcome === 'number')
  t.same(answered, [201])
  const database = new pg.Client({ connectionString: system.postgresUrl })
  await database.connect()
  const others = 'select count(*)::int as players from players.player where external_id <> $1'
  const { rows } = await database.query(others, [person.externalId])
  await database.end()
  t.equal(rows[0].players, statuses.get(201), 'nothing was done without being answered')
})
