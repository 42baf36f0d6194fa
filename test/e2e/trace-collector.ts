import { json } from 'node:stream/consumers'
import { serveHttp, type Teardown } from '@backoffice/test-kit'

/** A span as OTLP/JSON carries it. */
export interface CollectedSpan {
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
