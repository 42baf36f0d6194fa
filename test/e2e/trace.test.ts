// proof: all services with telemetry and a collector. tracing.test.ts of the runtime shows that a call keeps its trace.
// In a process of its own: its telemetry is loaded before all others.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import t from 'tap'

// All services run in this process, whose telemetry is loaded before them, as `node --import` does in theirs. What a
// trace consists of still goes from one to the other over HTTP, NATS and PostgreSQL alone.

/** Spans, as a collector takes them over OTLP/HTTP with JSON. */
const collected: CollectedSpan[] = []
const collector = createServer(async (request, response) => {
  const sent = await json(request)
  if (request.url === '/v1/traces') collected.push(...read(sent as OtlpTraces))
  response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
})
await once(collector.listen(0, '127.0.0.1'), 'listening')
t.teardown(() => {
  collector.close()
  collector.closeAllConnections()
})
Object.assign(process.env, {
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_BSP_SCHEDULE_DELAY: '200',
})
await import(new URL('../../packages/process/src/telemetry/register.ts', import.meta.url).href)
const { operations } = await import('@backoffice/contracts')
const { eventually, OperatorClient, serveHttp, testBed } = await import('@backoffice/test-kit')
const { services } = await import('../services.ts')
const { createDeposit, expectStatus, playerRequest } = await import('../journey.ts')

const bed = await testBed(t, services)
const receiver = await serveHttp(t, (request, response) => {
  request.resume().on('end', () => response.writeHead(204).end())
})
const alice = bed.team('alice')
const { operatorId, sandbox } = await alice.call(operations.gateway.createOperator, { input: { name: 'traced' } })
const { baseUrl } = bed.services.gateway.addresses
const operator = new OperatorClient(baseUrl, { key: sandbox.key, secret: sandbox.secret ?? '' })
t.teardown(() => operator.close())
const url = `${receiver}/hook?token=of-the-operator`
await alice.call(operations.webhooks.setWebhookUrl, { input: { operatorId, environment: 'sandbox', url } })

const person = playerRequest(undefined, '529.982.247-25')
const player = expectStatus(await operator.post('/players', person), 201)
const deposit = await createDeposit(operator, player.id)
expectStatus(await operator.post(`/deposits/${deposit.id}/confirm`), 200)

/** The confirmation's trace, once it has reached the receiver. */
const trace = await eventually(() => {
  const root = collected.find(({ name }) => name === 'POST /api/v1/deposits/:depositId/confirm')
  const spans = collected.filter(({ traceId }) => traceId === root?.traceId)
  // A parent may arrive after its children.
  const known = new Set(['', ...spans.map(({ spanId }) => spanId)])
  if (spans.some(({ parentSpanId }) => !known.has(parentSpanId))) return false
  return spans.some(({ name }) => name === 'deliver webhook') && spans
})

const find = (name: string, kind: number) => trace.find((span) => span.name === name && span.kind === kind)
const [server, client, producer, consumer] = [2, 3, 4, 5] as const

/** Whether a span stands below another of the trace, however deep. */
const isBelow = (span: CollectedSpan | undefined, above: CollectedSpan | undefined): boolean =>
  span !== undefined &&
  (span === above ||
    isBelow(
      trace.find(({ spanId }) => spanId === span.parentSpanId),
      above,
    ))

/** What one service does for the confirmation, each below the one before. */
const gateway = find('POST /api/v1/deposits/:depositId/confirm', server)
const payments = find('payments.confirmDeposit', server)
const wallet = find('wallet.creditAccount', server)
const webhooks = find('deliver webhook', client)

t.test('one confirmation is one trace: gateway, payments, wallet, outbox, stream and webhook', async (t) => {
  for (const [name, kind, above] of [
    ['payments.confirmDeposit', client, gateway],
    ['payments.confirmDeposit', server, gateway],
    ['wallet.creditAccount', client, payments],
    ['wallet.creditAccount', server, payments],
    ['publish deposit.confirmed', producer, payments],
    ['consume deposit.confirmed', consumer, payments],
    ['deliver webhook', client, payments],
  ] as const) {
    t.ok(above !== undefined && isBelow(find(name, kind), above), name)
  }
})

t.test('the SQL of each service stands in it, below what caused it', async (t) => {
  const statements = trace.filter(({ attributes }) => attributes['db.system.name'] !== undefined)
  for (const service of [gateway, payments, wallet, find('consume deposit.confirmed', consumer)])
    t.ok(
      statements.some(({ parentSpanId }) => parentSpanId === service?.spanId),
      `below ${service?.name}`,
    )
})

t.test('the attempt says which request it was, and what the receiver replied', async (t) => {
  t.match(webhooks?.attributes, { 'http.request.method': 'POST', 'http.response.status_code': 204 })
})

const secrets = [sandbox.secret, sandbox.webhookSecret].filter((value) => value !== null)
const { name, email, cpf, phone, birthDate } = person
const ofPerson = [name, email, cpf, '52998224725', phone, birthDate]

t.test('no span names a person, a secret, or what stands behind an address', async (t) => {
  await operator.get(`/players?externalId=${person.externalId}`)
  await eventually(() => collected.some(({ name }) => name === 'GET /api/v1/players'))
  const text = JSON.stringify(collected)
  for (const value of [...ofPerson, ...secrets]) t.notOk(text.includes(value), 'a value of a person or a secret')
  t.notOk(text.includes('of-the-operator'), "the query of the operator's URL")
  t.notOk(text.includes(person.externalId), 'the query of a request')
})

/** A span as OTLP/JSON carries it. */
interface CollectedSpan {
  readonly name: string
  /** As OTLP counts: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly attributes: Readonly<Record<string, unknown>>
}

interface OtlpAttribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}
type OtlpSpan = Omit<CollectedSpan, 'attributes'> & { readonly attributes?: readonly OtlpAttribute[] }
interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

function read({ resourceSpans }: OtlpTraces): CollectedSpan[] {
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  return spans.map(({ parentSpanId = '', attributes = [], ...span }) => ({
    ...{ ...span, parentSpanId },
    attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
  }))
}
