import { type EventKind, eventKinds, events } from './events.ts'
import type { Operation, ServiceName } from './operation.ts'
import { allOperations } from './operations/index.ts'

type Named = Pick<Operation, 'service' | 'id'>

/** The subject of an operation that operators or other services call. */
export const rpcSubject = ({ service, id }: Named): string => `rpc.${service}.${id}`
/** The same call, taken by all replicas of the service and not by one of them. */
export const rpcSubjectOfAll = (operation: Named): string => `${rpcSubject(operation)}.all`
/**
 * The subject of an operation that a person of the team calls. The second token is the NATS user, and the broker lets
 * nobody use another's.
 */
export const teamSubject = (user: string, { service, id }: Named): string => `team.${user}.${service}.${id}`

/** The subjects on which a service is called: by operators and services, and by the team. */
export const servedSubjects = (service: ServiceName) => ({
  rpc: rpcSubject({ service, id: '*' }),
  all: rpcSubjectOfAll({ service, id: '*' }),
  team: teamSubject('*', { service, id: '*' }),
})

/** Every user has a private inbox prefix, so that nobody can read the replies to another. */
export const inboxOf = (user: string): string => `${inboxPrefix}${user}`
const inboxPrefix = '_INBOX_'

/**
 * Whether a request asks for its reply in an inbox. A reply is sent with the rights of the service, so one to another
 * subject would let the sender speak as the service, to whomever it likes.
 */
export const isInbox = (replySubject: string | undefined): boolean => replySubject?.startsWith(inboxPrefix) === true

/** The headers of a request between services. */
export const headerNames = {
  operationId: 'Operation-Id',
  requestId: 'Request-Id',
  /** Epoch milliseconds after which nobody waits for the reply. */
  deadline: 'Deadline',
  /** How many milliseconds the caller waits, from the moment of sending. It does not depend on two clocks. */
  timeoutMs: 'Timeout-Ms',
  /** Which attempt of a call this is. The first has none. */
  attempt: 'Attempt',
} as const

/**
 * Whether a call may be sent again while its reply is awaited, because a replica that hangs may have taken it. Whatever is
 * sent again has one effect. A person of the team waits, and may see a secret in the first reply only.
 */
export const isSentAgain = ({ audience, sentOnce }: Pick<Operation, 'audience' | 'sentOnce'>): boolean =>
  audience !== 'team' && sentOnce !== true

/** How long a caller waits when the operation says nothing else. */
export const timeoutMsDefault = 8_000

/** The JetStream stream that keeps every event, and the subject of one kind. */
export const eventStream = 'EVENTS'
export const eventSubject = (kind: EventKind): string => `events.${kind}`
/** The subjects that the stream stores. */
export const eventSubjects = 'events.>'

/**
 * JetStream's subjects for the stream. Each service creates the stream if it is missing, and finds out whether it was
 * lost.
 */
export const streamApi = {
  info: `$JS.API.STREAM.INFO.${eventStream}`,
  create: `$JS.API.STREAM.CREATE.${eventStream}`,
} as const

/** JetStream's subjects for a durable consumer of the stream. */
export const consumerApi = {
  create: `$JS.API.CONSUMER.CREATE.${eventStream}.>`,
  createDurable: `$JS.API.CONSUMER.DURABLE.CREATE.${eventStream}.>`,
  info: `$JS.API.CONSUMER.INFO.${eventStream}.>`,
  next: `$JS.API.CONSUMER.MSG.NEXT.${eventStream}.>`,
  acknowledge: `$JS.ACK.${eventStream}.>`,
} as const

/** The subjects that a user of the broker may publish and subscribe to. */
export interface BrokerPermissions {
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
}

/** What one service may send and hear: it follows from the tables of operations and events. */
export function servicePermissions(service: ServiceName): BrokerPermissions {
  const calls = allOperations
    .filter((operation) => mayCall(service, operation))
    .flatMap((operation) => [rpcSubject(operation), ...(isSentAgain(operation) ? [rpcSubjectOfAll(operation)] : [])])
  const emits = eventKinds.filter((kind) => events[kind].emittedBy === service).map(eventSubject)
  const consumes = eventKinds.some((kind) => events[kind].consumedBy.includes(service))
  return {
    publish: [...calls.sort(), ...emits, ...Object.values(streamApi), ...(consumes ? Object.values(consumerApi) : [])],
    subscribe: [`rpc.${service}.>`, `team.*.${service}.>`, `${inboxOf(service)}.>`],
  }
}

/** A person of the team may send under their own name only, and gets nothing but replies. */
export function teamPermissions(user: string): BrokerPermissions {
  return { publish: [`team.${user}.>`], subscribe: [`${inboxOf(user)}.>`] }
}

function mayCall(service: ServiceName, operation: Operation): boolean {
  if (operation.service === service) return false
  if (operation.callers !== undefined) return operation.callers.includes(service)
  return service === 'gateway' && (operation.audience === 'operator' || operation.audience === 'sandbox')
}
