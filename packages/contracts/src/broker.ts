import { consumedSubject, consumerName, type EventConsumerEntry, eventConsumers, eventStream } from './event-stream.ts'
import { type EventKind, eventKinds, eventSubject, events } from './events.ts'
import { type Operation, type ServiceName, serviceNames } from './operation.ts'
import { allOperations } from './operations/index.ts'

type Named = Pick<Operation, 'service' | 'id'>

/** The subject of an operation that operators or other services call. */
export const rpcSubject = ({ service, id }: Named): string => `rpc.${service}.${id}`
/** The same call, taken by all replicas of the service and not by one of them. */
export const rpcSubjectOfAll = (operation: Named): string => `${rpcSubject(operation)}.all`
/** The subject of an operation that a person of the team calls. It says nothing about who: the call's headers prove that. */
export const teamSubject = ({ service, id }: Named): string => `team.${service}.${id}`

/** The subjects on which a service is called: by operators and services, and by the team. */
export const servedSubjects = (service: ServiceName) => ({
  rpc: rpcSubject({ service, id: '*' }),
  all: rpcSubjectOfAll({ service, id: '*' }),
  team: teamSubject({ service, id: '*' }),
})

/** Every user has a private inbox prefix, so that nobody can read the replies to another. */
export const inboxOf = (user: string): string => `${inboxPrefix}${user}`
const inboxPrefix = '_INBOX_'

/**
 * Where in an inbox the replies of one service come. Only that service may write there: with one place for all, whoever was
 * called once could reply to the next call in another's name.
 */
export const replyInbox = (inbox: string, service: ServiceName | '*'): string => `${inbox}.${service}`

/**
 * Whether a request asks a service for its reply in an inbox for that service's replies. A reply is sent with the rights of
 * the service, so one to another subject would let the sender speak as the service, to whomever it likes.
 */
export const isReplyInbox = (replySubject: string | undefined, service: ServiceName): boolean => {
  const [inbox, of] = replySubject?.split('.', 2) ?? []
  return inbox?.startsWith(inboxPrefix) === true && of === service
}

/** The headers of a request between services. */
export const headerNames = {
  operationId: 'Operation-Id',
  requestId: 'Request-Id',
  /** How many milliseconds the caller waits, from the moment of sending. It does not depend on two clocks. */
  timeoutMs: 'Timeout-Ms',
  /** Of a call of the team: the proposal of somebody else that it carries out. */
  approves: 'Approves',
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

/** The user that makes the stream and its consumers, and keeps them. It belongs to no service and to no person. */
export const streamKeeper = 'streams'
/** Passes on what the team calls. It can speak for nobody: each call is signed by its person. */
export const teamConsole = 'console'
/** The users of the broker. They are programs: no person has a password here. */
export const brokerUsers = [...serviceNames, streamKeeper, teamConsole] as const
export type BrokerUser = (typeof brokerUsers)[number]

/** Reads how the stream and its consumers are, for people who look after the system. It belongs to nobody else. */
export const observer = 'ops'
/** Reads how the servers are, in NATS' system account, and takes a lost one out of the cluster. */
export const systemObserver = 'system'

/** JetStream's subjects for the stream. Services ask only whether it is there and how it is configured. */
export const streamApi = {
  info: `$JS.API.STREAM.INFO.${eventStream}`,
  create: `$JS.API.STREAM.CREATE.${eventStream}`,
  update: `$JS.API.STREAM.UPDATE.${eventStream}`,
} as const

/** JetStream's subjects for one durable consumer of the stream. */
export function consumerApi(consumer: EventConsumerEntry) {
  const name = consumerName(consumer)
  return {
    info: `$JS.API.CONSUMER.INFO.${eventStream}.${name}`,
    /** The server accepts no other name and filter than those of the subject. It creates or updates. */
    create: `$JS.API.CONSUMER.CREATE.${eventStream}.${name}.${consumedSubject(consumer)}`,
    next: `$JS.API.CONSUMER.MSG.NEXT.${eventStream}.${name}`,
    acknowledge: `$JS.ACK.${eventStream}.${name}.>`,
  } as const
}

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
  const emits = publishedKinds(service).map(eventSubject)
  const consumes = eventConsumers
    .filter((consumer) => consumer.service === service)
    .map(consumerApi)
    .flatMap(({ info, next, acknowledge }) => [info, next, acknowledge])
  const replies = callersOf(service).map((caller) => `${replyInbox(inboxOf(caller), service)}.>`)
  return {
    publish: [...calls.sort(), ...emits, streamApi.info, ...consumes, ...replies],
    subscribe: [`rpc.${service}.>`, servedSubjects(service).team, `${inboxOf(service)}.>`],
  }
}

/**
 * JetStream publishes with rights of its own what a stream or a consumer is told to pass on. So whoever may make them may
 * send anything to anybody. One user may, and nothing else.
 */
export function streamKeeperPermissions(): BrokerPermissions {
  const consumers = eventConsumers.map(consumerApi).flatMap(({ info, create }) => [info, create])
  return {
    publish: [streamApi.info, streamApi.create, streamApi.update, ...consumers],
    subscribe: [`${inboxOf(streamKeeper)}.>`],
  }
}

/**
 * It sees that there are messages, how many and who is behind, and never a message: those hold personal data. It changes
 * nothing.
 */
export function observerPermissions(): BrokerPermissions {
  const consumers = eventConsumers.map((consumer) => consumerApi(consumer).info)
  const lists = ['STREAM.NAMES', 'STREAM.LIST', `CONSUMER.NAMES.${eventStream}`, `CONSUMER.LIST.${eventStream}`]
  return {
    publish: ['$JS.API.INFO', ...lists.map((list) => `$JS.API.${list}`), streamApi.info, ...consumers],
    subscribe: [`${inboxOf(observer)}.>`],
  }
}

/**
 * The system account may do much more by itself: disconnect clients, reload, hear who connects. Here it reads reports of one
 * server or of all, hands leadership over, and removes a server that will not come back.
 */
export function systemObserverPermissions(): BrokerPermissions {
  const reports = ['STATSZ', 'VARZ', 'CONNZ', 'ROUTEZ', 'JSZ', 'HEALTHZ', 'ACCOUNTZ']
  return {
    publish: [
      '$SYS.REQ.SERVER.PING',
      ...reports.map((report) => `$SYS.REQ.SERVER.*.${report}`),
      '$JS.API.META.LEADER.STEPDOWN',
      '$JS.API.SERVER.REMOVE',
    ],
    subscribe: [`${inboxOf(systemObserver)}.>`],
  }
}

/** The console calls the team's operations, and nothing that services call. */
export function teamConsolePermissions(): BrokerPermissions {
  return {
    publish: serviceNames.map((service) => servedSubjects(service).team),
    subscribe: [`${inboxOf(teamConsole)}.>`],
  }
}

/** The events that a service publishes. One that nobody consumes does not go through the stream. */
export const publishedKinds = (service: ServiceName): readonly EventKind[] =>
  eventKinds.filter((kind) => events[kind].emittedBy === service && events[kind].consumedBy.length > 0)

/** Who may call a service, and so hears its replies. The table says it, so no server has to remember who has asked. */
const callersOf = (service: ServiceName): readonly BrokerUser[] => [
  ...serviceNames.filter((caller) => allOperations.some((one) => one.service === service && mayCall(caller, one))),
  teamConsole,
]

function mayCall(service: ServiceName, operation: Operation): boolean {
  if (operation.service === service) return false
  if (operation.callers !== undefined) return operation.callers.includes(service)
  return service === 'gateway' && (operation.audience === 'operator' || operation.audience === 'sandbox')
}
