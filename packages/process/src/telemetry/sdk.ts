import { register } from 'node:module'
import { getNodeAutoInstrumentations } from '@opentelemetry/auto-instrumentations-node'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { AggregationTemporality, AggregationType, InstrumentType, type ViewOptions } from '@opentelemetry/sdk-metrics'
import { NodeSDK } from '@opentelemetry/sdk-node'

/** What is traced automatically. RPC, outbox, events and delivery attempts create spans of their own. */
const instrumented = ['http', 'undici', 'pg', 'runtime-node'].map((name) => `@opentelemetry/instrumentation-${name}`)

/** metrics.ts measures each pool by itself. This instrumentation takes all pools of a process for one. */
const withoutWrongPools: ViewOptions = {
  meterName: '@opentelemetry/instrumentation-pg',
  instrumentName: 'db.client.connection.*',
  aggregation: { type: AggregationType.DROP },
}

/**
 * What a gauge was not read as now is not shown. The exporter by itself goes on showing the last value of each series for
 * as long as the process lives: an operator that is back below its quota, or a reading that fails.
 */
class GaugesOfNow extends PrometheusExporter {
  override selectAggregationTemporality(instrumentType: InstrumentType): AggregationTemporality {
    const isGauge = instrumentType === InstrumentType.OBSERVABLE_GAUGE
    return isGauge ? AggregationTemporality.DELTA : super.selectAggregationTemporality(instrumentType)
  }
}

function prometheus(): PrometheusExporter {
  const { OTEL_EXPORTER_PROMETHEUS_HOST: host = '', OTEL_EXPORTER_PROMETHEUS_PORT: port = '' } = process.env
  return new GaugesOfNow({ host, port: Number(port) })
}

/** Starts the SDK with the standard OTEL_* variables. A signal without an exporter stays off. */
export function startTelemetry(): void {
  // Node's loader for ES modules is not the one for CommonJS, and is not patched by default.
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url)
  const byDefault = (process.env.OTEL_EXPORTER_OTLP_ENDPOINT ?? '') === '' ? 'none' : 'otlp'
  process.env.OTEL_TRACES_EXPORTER ||= byDefault
  process.env.OTEL_METRICS_EXPORTER ||= byDefault
  // Logs go to standard output, where the cluster collects them.
  process.env.OTEL_LOGS_EXPORTER ||= 'none'
  process.env.OTEL_EXPORTER_OTLP_PROTOCOL ||= 'http/protobuf'
  process.env.OTEL_NODE_ENABLED_INSTRUMENTATIONS ||= instrumented
    .map((name) => name.replace('@opentelemetry/instrumentation-', ''))
    .join(',')
  const metricReaders = process.env.OTEL_METRICS_EXPORTER === 'prometheus' ? { metricReaders: [prometheus()] } : {}
  new NodeSDK({ instrumentations: [instrumentations()], views: [withoutWrongPools], ...metricReaders }).start()
}

/** No personal data and no secrets leave in attributes: neither the queries of URLs nor the values in SQL. */
function instrumentations() {
  return getNodeAutoInstrumentations({
    '@opentelemetry/instrumentation-http': {
      // Probes would drown everything else.
      ignoreIncomingRequestHook: ({ url }) => url === '/healthz' || url === '/readyz',
      disableOutgoingRequestInstrumentation: true,
      requestHook: (span) => {
        span.setAttributes({ 'url.query': '', 'user_agent.original': '' })
      },
    },
    '@opentelemetry/instrumentation-undici': {
      requestHook: (span, { origin, path }) => {
        span.setAttributes({ 'url.full': withoutQuery(`${origin}${path}`), 'url.query': '' })
      },
    },
    '@opentelemetry/instrumentation-pg': {
      // The outbox and the schedules poll every second. Traces of those statements alone would say nothing.
      requireParentSpan: true,
      requestHook: (span, { query }) => {
        span.setAttribute('db.query.text', maskLiterals(query.text))
      },
    },
  })
}

/** SQL without its values. The ORM writes values into the statement, and they may be a person's name. */
export function maskLiterals(sql: string): string {
  return sql.replaceAll(/'(?:[^']|'')*'/g, '?').replaceAll(/(?<![$\w.])\d+(?:\.\d+)?\b/g, '?')
}

/** A URL without its query: operators put tokens there. */
export function withoutQuery(url: string): string {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}
