import { isSpanContextValid, trace } from '@opentelemetry/api'
import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger }

const causesMax = 5

/**
 * JSON lines with the trace's ids. Callers log ids and codes, never bodies. The rules below are the second line of
 * defence.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const options = {
    name: service,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    redact: {
      paths: ['secret', 'webhookSecret', 'password', 'cpf', 'email', 'phone'].flatMap((name) => [name, `*.${name}`]),
      censor: '[redacted]',
    },
    mixin() {
      const span = trace.getActiveSpan()?.spanContext()
      return span !== undefined && isSpanContextValid(span) ? { traceId: span.traceId, spanId: span.spanId } : {}
    },
  }
  return pino(options, destination ?? standardOutput())
}

let gathering: DestinationStream | undefined

/**
 * Standard output, written beside the work: a write that waits for a disk would hold up every request. Lines gather for a
 * tenth of a second, because each write costs much more than a line. They are bounded: beyond that whoever reads standard
 * output has stopped, and new lines are dropped. What waits is written when the process exits; a process that is killed
 * loses it. A process has one, or the lines of two loggers would change places.
 */
const standardOutput = (): DestinationStream =>
  (gathering ??= pino.destination({
    dest: 1,
    sync: false,
    minLength: 8 * 1024,
    periodicFlush: 100,
    maxLength: 16 * 1024 * 1024,
  }))

/**
 * Type, code, message and place of an error. Errors of PostgreSQL and the ORM have the statement and the row's values
 * in message, detail and stack, so these are left out.
 */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: String(error) }
  const { code, constraint, table, severity } = error as Error & Record<string, unknown>
  const ofDatabase = typeof severity === 'string' || typeof constraint === 'string'
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return {
    type: error.name,
    ...(code === undefined ? {} : { code }),
    ...(ofDatabase ? { table, constraint } : {}),
    message: ofDatabase ? databaseMessage(String(code), error.message) : error.message,
    stack: frames.slice(0, 20).join('\n'),
    ...(error.cause === undefined || depth >= causesMax ? {} : { cause: describeError(error.cause, depth + 1) }),
  }
}

/** Data exceptions and broken constraints (classes 22 and 23) may name values; the ORM puts the statement before a dash. */
function databaseMessage(sqlState: string, message: string): string {
  return /^2[23]/.test(sqlState) ? 'refused by PostgreSQL' : message.slice(message.lastIndexOf(' - ') + 1)
}
