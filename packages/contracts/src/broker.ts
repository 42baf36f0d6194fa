import { type EventKind, eventKinds, events } from './events.ts'
import type { Operation, ServiceName } from './operation.ts'
import { allOperations } from './operations/index.ts'

type Named = Pick<Operation, 'service' | 'id'>

/** Where a service hears what operators and other services ask of it. */
export const rpcSubject = ({ service, id }: Named): string => `rpc.${service}.${id}`
/** The second token is the NATS user: a permission binds it, so nobody can act in another's name. */
export const teamSubject = (user: string, { service, id }: Named): string => `team.${user}.${service}.${id}`

/** Every subject on which a service is asked something, by who asks. */
export const servedSubjects = (service: ServiceName) => ({
  rpc: rpcSubject({ service, id: '*' }),
  team: teamSubject('*', { service, id: '*' }),
})

/** Every user has a private inbox prefix: none can read the replies to another. */
export const inboxOf = (user: string): string => `_INBOX_${user}`

/** The headers of a request between services. */
export const headerNames = {
  operationId: 'Operation-Id',
  requestId: 'Request-Id',
  /** Epoch milliseconds after which nobody waits for the reply. */
  deadline: 'Deadline',
  /** For so many milliseconds from its sending somebody waits for the reply; it needs no clocks that agree. */
  timeoutMs: 'Timeout-Ms',
} as const

/** How long a caller waits when the operation says nothing else. */
export const timeoutMsDefault = 8_000

/** The JetStream stream that keeps every event, and the subject of one kind. */
export const eventStream = 'EVENTS'
export const eventSubject = (kind: EventKind): string => `events.${kind}`
/** What the stream takes in. */
export const eventSubjects = 'events.>'

/** JetStream's subjects for the stream. Each service creates it where it is missing and sees whether it was lost. */
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

/** The subjects that a user of the broker may send to and hear. */
export interface BrokerPermissions {
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
}

/** What one service may send and hear: it follows from the tables of operations and events. */
export function servicePermissions(service: ServiceName): BrokerPermissions {
  const calls = allOperations.filter((operation) => mayCall(service, operation)).map(rpcSubject)
  const emits = eventKinds.filter((kind) => events[kind].emittedBy === service).map(eventSubject)
  const consumes = eventKinds.some((kind) => events[kind].consumedBy.includes(service))
  return {
    publish: [...calls.sort(), ...emits, ...Object.values(streamApi), ...(consumes ? Object.values(consumerApi) : [])],
    subscribe: [`rpc.${service}.>`, `team.*.${service}.>`, `${inboxOf(service)}.>`],
  }
}

/** A person of the team may send under the own name only, and hears nothing but replies. */
export function teamPermissions(user: string): BrokerPermissions {
  return { publish: [`team.${user}.>`], subscribe: [`${inboxOf(user)}.>`] }
}

function mayCall(service: ServiceName, operation: Operation): boolean {
  if (operation.service === service) return false
  if (operation.callers !== undefined) return operation.callers.includes(service)
  return service === 'gateway' && (operation.audience === 'operator' || operation.audience === 'sandbox')
}
