import type { ErrorCode, Scope } from '@backoffice/contracts'
import type { MsgHdrs } from '@nats-io/transport-node'
import { type Context, context, propagation } from '@opentelemetry/api'

export interface RequestMessage {
  readonly scope?: Scope
  readonly input: unknown
}

export interface ErrorReply {
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: Record<string, unknown> }
}

export type ReplyMessage = { readonly body: unknown } | ErrorReply

const prefix = '{"body":'
const suffix = '}'

/** A reply's message around the bytes of its body. The operator gets these bytes as the service wrote them. */
export const replyMessage = (body: string): string => `${prefix}${body}${suffix}`

/** The bytes of a reply's body, as the service wrote them. */
export const bodyBytes = (message: Uint8Array): Uint8Array =>
  message.subarray(prefix.length, message.length - suffix.length)

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

let end: Promise<void> | undefined

/**
 * Resolves when the event loop has read all that had arrived. Messages that are sent after it leave together: one write of
 * this process, one read of the broker, and one batch for those who receive them.
 */
export function endOfTurn(): Promise<void> {
  end ??= new Promise((resolve) => {
    setImmediate(() => {
      end = undefined
      resolve()
    })
  })
  return end
}
