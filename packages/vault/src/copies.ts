import {
  allOperations,
  eventKinds,
  events,
  hasSealed,
  type Operation,
  putBack,
  type TakenOut,
  takeOut,
} from '@backoffice/contracts'
import type { TSchema } from '@sinclair/typebox'
import type { Place, Vault } from './vault.ts'

// Which of the runtime's own rows are copies of personal data that must be sealed. The marks of the schemas say it.

const isGivenSealed = ({ params, query, body }: Operation) => [params, query, body].some(hasSealed)
const idsOf = (operations: readonly Operation[]) => new Set(operations.map(({ id }) => id))

const repliesToSeal = idsOf(allOperations.filter(({ reply }) => hasSealed(reply)))
const inputsToSeal = idsOf(allOperations.filter(isGivenSealed))
/** The schemas of what a message carries, by its name: the kind of an event, or service and id of an operation. */
const messagesToSeal = new Map<string, readonly TSchema[]>([
  ...eventKinds
    .filter((kind) => hasSealed(events[kind].data))
    .map((kind): [string, readonly TSchema[]] => [kind, [events[kind].data]]),
  ...allOperations
    .filter(isGivenSealed)
    .map(({ service, id, params, query, body }): [string, readonly TSchema[]] => [
      `${service}.${id}`,
      [params, query, body],
    ]),
])

/** @param operation its id */
export const isReplyToSeal = (operation: string): boolean => repliesToSeal.has(operation)
/** @param kind of an event */
export const isEventToSeal = (kind: string): boolean => messagesToSeal.has(kind)

export const placeOfReply = (operationId: string): Place => ({ column: 'operation.reply', row: operationId })
export const placeOfPayload = (id: bigint): Place => ({ column: 'set_aside_message.payload', row: String(id) })
const placeOfMessage = (id: string): Place => ({ column: 'outbox.message', row: id })

/** What is kept of an operation's input: few inputs are possible for some, so a plain digest would give them away. */
export const digestToKeep = (vault: Vault, operation: string, digest: string): string =>
  inputsToSeal.has(operation) ? vault.digest(digest) : digest

/** A message of the outbox as it is stored. `sealed` are the texts that were taken out of it. */
export interface StoredMessage {
  readonly event?: { readonly data: unknown }
  readonly input?: unknown
  readonly sealed?: string
}

interface MessageKey {
  readonly id: string
  readonly name: string
}

/**
 * A message without what must be sealed of it. The rest stays readable: reconciliation compares events with records, and has
 * no key.
 */
export function sealMessage<M extends StoredMessage>(vault: Vault, { id, name }: MessageKey, message: M): M {
  if (!vault.seals) return message
  const { event } = message
  const taken: TakenOut[] = []
  let rest = event === undefined ? message.input : event.data
  for (const schema of messagesToSeal.get(name) ?? []) {
    const found = takeOut(schema, rest)
    rest = found.rest
    taken.push(...found.taken)
  }
  if (taken.length === 0) return message
  const sealed = vault.seal(JSON.stringify(taken), placeOfMessage(id))
  return event === undefined
    ? { ...message, input: rest, sealed }
    : { ...message, event: { ...event, data: rest }, sealed }
}

/** @throws when it was sealed under a master key that is not known */
export function openMessage<M extends StoredMessage>(
  vault: Vault,
  id: string,
  { sealed, ...message }: M,
): Omit<M, 'sealed'> {
  if (sealed === undefined) return message
  const taken = JSON.parse(vault.open(sealed, placeOfMessage(id))) as TakenOut[]
  const { event, input } = message
  return event === undefined
    ? { ...message, input: putBack(input, taken) }
    : { ...message, event: { ...event, data: putBack(event.data, taken) } }
}

/** The message as it would be written now; null when it is stored so already. */
export function renewMessage(vault: Vault, key: MessageKey, message: StoredMessage): StoredMessage | null {
  if (message.sealed === undefined) {
    const sealed = sealMessage(vault, key, message)
    return sealed === message ? null : sealed
  }
  const sealed = vault.renew(message.sealed, placeOfMessage(key.id))
  return sealed === null ? null : { ...message, sealed }
}
