import { durations } from '@backoffice/process'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { AttemptOutcome } from '../domain/attempt.ts'

const tracer = trace.getTracer('webhooks')
const attemptDuration = durations(
  'backoffice.delivery.attempt.duration_seconds',
  'Time of one attempt to deliver a webhook',
)

export interface ObservedAttempt {
  readonly traceParent: string | null
  readonly deliveryId: string
  readonly eventId: string
  readonly number: number
}

/** Measures an attempt and runs it as a span of its event's trace, however much later it is. */
export function observeAttempt(attempt: ObservedAttempt, run: () => Promise<AttemptOutcome>): Promise<AttemptOutcome> {
  const { traceParent, deliveryId, eventId, number } = attempt
  const parent = propagation.extract(context.active(), traceParent === null ? {} : { traceparent: traceParent })
  const attributes = { 'delivery.id': deliveryId, 'event.id': eventId, 'delivery.attempt': number }
  return tracer.startActiveSpan('deliver webhook', { kind: SpanKind.CLIENT, attributes }, parent, async (span) => {
    try {
      const outcome = await run()
      const { error, durationMs } = outcome
      if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
      attemptDuration.record(durationMs / 1_000, { outcome: error === null ? 'delivered' : 'failed' })
      return outcome
    } finally {
      span.end()
    }
  })
}
