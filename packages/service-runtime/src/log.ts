import { isSpanContextValid, trace } from '@opentelemetry/api'
import { type Logger, pino } from 'pino'

export type { Logger }

/** JSON lines with the trace's ids. Call sites log ids and codes, never bodies: the paths below are the second line of defence. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    name: service,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: [
        'secret',
        '*.secret',
        'webhookSecret',
        '*.webhookSecret',
        'password',
        '*.password',
        'cpf',
        '*.cpf',
        'email',
        '*.email',
      ],
      censor: '[redacted]',
    },
    mixin() {
      const span = trace.getActiveSpan()?.spanContext()
      return span !== undefined && isSpanContextValid(span) ? { traceId: span.traceId, spanId: span.spanId } : {}
    },
  })
}
