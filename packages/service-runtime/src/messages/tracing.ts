import type { MsgHdrs } from '@nats-io/transport-node'
import { type Context, context, propagation } from '@opentelemetry/api'

/** Carries the active trace in the headers of a message. */
export function injectTrace(headers: MsgHdrs, active: Context = context.active()): void {
  propagation.inject(active, headers, { set: (carrier, name, value) => carrier.set(name, value) })
}

/** The trace that a message belongs to. */
export function extractTrace(headers: MsgHdrs | undefined): Context {
  return propagation.extract(context.active(), headers, {
    get: (carrier, name) => carrier?.get(name) || undefined,
    keys: (carrier) => carrier?.keys() ?? [],
  })
}

/** What travels with an outbox row: the request it comes from, and its trace. */
export function contextOf(requestId: string, active: Context = context.active()): Readonly<Record<string, string>> {
  const carrier: Record<string, string> = { requestId }
  propagation.inject(active, carrier)
  return carrier
}

/** A trace as one line of text, to be kept with a record; null when nothing is traced. */
export function traceparentOf(active: Context): string | null {
  const carrier: { traceparent?: string } = {}
  propagation.inject(active, carrier)
  return carrier.traceparent ?? null
}

/** Runs within the trace that `contextOf` kept. */
export function inContextOf<T>(carrier: Readonly<Record<string, string>>, run: () => T): T {
  return context.with(propagation.extract(context.active(), carrier), run)
}
