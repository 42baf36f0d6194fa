import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'

const tracer = trace.getTracer('webhooks')

/** The trace that this runs in, to be kept with a delivery; null when nothing is traced. */
export function currentTraceParent(): string | null {
  const carrier: { traceparent?: string } = {}
  propagation.inject(context.active(), carrier)
  return carrier.traceparent ?? null
}

export interface TracedAttempt {
  readonly traceParent: string | null
  readonly deliveryId: string
  readonly eventId: string
  readonly number: number
}

/** Runs an attempt as a span of the trace that its event came from, however much later. */
export function traceAttempt<T extends { readonly error: string | null }>(
  attempt: TracedAttempt,
  run: () => Promise<T>,
): Promise<T> {
  const { traceParent, deliveryId, eventId, number } = attempt
  const parent = propagation.extract(context.active(), traceParent === null ? {} : { traceparent: traceParent })
  const attributes = { 'delivery.id': deliveryId, 'event.id': eventId, 'delivery.attempt': number }
  return tracer.startActiveSpan('deliver webhook', { kind: SpanKind.CLIENT, attributes }, parent, async (span) => {
    try {
      const outcome = await run()
      if (outcome.error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.error })
      return outcome
    } finally {
      span.end()
    }
  })
}
