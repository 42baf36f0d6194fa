import { compressCopy, expandCopy } from './compressed-copies.ts'
import { isEventToSeal, type StoredMessage } from './sealed-copies.ts'
import type { Vault } from './vault.ts'

/**
 * An event in the log of published events. What has sealed texts, or was written while release 1.1.0 ran, stands there as
 * the message that was sent. Any other is compressed, and the message has only what is looked for: whom the event is about,
 * and that it is of the sandbox.
 */
export interface LoggedMessage {
  readonly id: string
  readonly message: StoredMessage
  /** Null where the message is whole. */
  readonly copy: Buffer | null
}

interface SentEvent {
  readonly type: string
  readonly environment: string
  readonly data: { readonly id?: unknown }
}
interface Heading {
  readonly environment?: string
  readonly data: { readonly id?: unknown }
}

/** The last part is the beginning of each message. */
const besides = (id: string, { data }: Heading) =>
  `${id} ${String(data.id)} {"context":{"requestId":"req_01"},"event":{"id":"evt_01`

/** What the log holds in place of a message; nulls where it holds the message. */
export function copyForLog(
  vault: Vault,
  id: string,
  message: object | undefined,
): { readonly heading: string | null; readonly copy: Buffer | null } {
  const { event } = (message ?? {}) as { readonly event?: SentEvent }
  if (event === undefined || !vault.writesShortForms || isEventToSeal(event.type)) return { heading: null, copy: null }
  const data = event.data.id === undefined ? {} : { id: event.data.id }
  const heading: Heading = event.environment === 'sandbox' ? { environment: 'sandbox', data } : { data }
  return {
    heading: JSON.stringify({ event: heading }),
    copy: compressCopy(Buffer.from(JSON.stringify(message)), besides(id, heading)),
  }
}

/** @throws when somebody has changed the copy */
export function readLogged({ id, message, copy }: LoggedMessage): StoredMessage {
  if (copy === null) return message
  return JSON.parse(expandCopy(copy, besides(id, message.event as Heading)).toString()) as StoredMessage
}
