import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { operations, residentServices } from '@backoffice/contracts'
import { eventually, OperatorClient, type System, serveHttp, type Teardown } from '@backoffice/test-kit'
import type { Test } from 'tap'
import { createDeposit, expectStatus, playerRequest } from '../journey.ts'

/** With these settings a system exports its traces, and logs all that it can. */
export const tracing = (collector: TraceCollector) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_BSP_SCHEDULE_DELAY: '200',
  LOG_LEVEL: 'trace',
})

/** The trace and the logs of one deposit, in a system that has done little else. */
export async function traceTests(t: Test, system: System, collector: TraceCollector): Promise<void> {
  const receiver = await serveHttp(t, (request, response) => {
    request.resume().on('end', () => response.writeHead(204).end())
  })
  const alice = await system.asTeam('alice')
  const { operatorId, sandbox } = await alice.call(operations.gateway.createOperator, { input: { name: 'traced' } })
  const operator = new OperatorClient(system.baseUrl, { key: sandbox.key, secret: sandbox.secret ?? '' })
  t.teardown(() => operator.close())
  const url = `${receiver}/hook?token=of-the-operator`
  await alice.call(operations.webhooks.setWebhookUrl, { input: { operatorId, environment: 'sandbox', url } })

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
        collector.spans.find(
          ({ parentSpanId, service }) => service === 'webhooks' && parentSpanId === attempt.spanId,
        ) ?? false,
    )
    t.equal(request.attributes['http.request.method'], 'POST')
    t.equal(request.attributes['http.response.status_code'], 204)
  })

  const secrets = [sandbox.secret, sandbox.webhookSecret].filter((value) => value !== null)
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
}

/** A span as OTLP/JSON carries it. */
interface CollectedSpan {
  readonly service: string
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
type OtlpSpan = Omit<CollectedSpan, 'service' | 'attributes'> & { readonly attributes?: readonly OtlpAttribute[] }
interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

export interface TraceCollector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string
  readonly spans: readonly CollectedSpan[]
}

/** Takes traces as a collector does, over OTLP/HTTP with JSON, and keeps their spans. */
export async function startTraceCollector(t: Teardown): Promise<TraceCollector> {
  const spans: CollectedSpan[] = []
  const endpoint = await serveHttp(t, async (request, response) => {
    const sent = await json(request)
    if (request.url === '/v1/traces') spans.push(...read(sent as OtlpTraces))
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
  })
  return { endpoint, spans }
}

function read({ resourceSpans }: OtlpTraces): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(toRecord(resource.attributes)['service.name'])
    return scopeSpans
      .flatMap((scope) => scope.spans)
      .map((span) => ({
        ...span,
        parentSpanId: span.parentSpanId ?? '',
        service,
        attributes: toRecord(span.attributes ?? []),
      }))
  })
}

const toRecord = (attributes: readonly OtlpAttribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
