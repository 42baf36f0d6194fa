import {
  type BrokerUser,
  brokerUsers,
  eventSubject,
  inboxOf,
  isSentAgain,
  providerGateway,
  replyInbox,
  rpcSubject,
  rpcSubjectOfAll,
  servedSubjects,
  streamKeeper,
  teamConsole,
} from './broker.ts'
import { type EventKind, eventKinds, events } from './events.ts'
import { audiences, type Operation, type ServiceName, serviceNames } from './operation.ts'
import { allOperations, providerOperations } from './operations/index.ts'

/** The JetStream stream that keeps every event. */
export const eventStream = 'EVENTS'
/** The subjects that the stream stores. */
export const eventSubjects = 'events.>'

/** A durable consumer of the stream: it remembers what one reaction of a service has acknowledged. */
export interface EventConsumerEntry {
  readonly service: ServiceName
  /** The name of the service's reaction. Never change it: another name is another consumer, which begins anew. */
  readonly reaction: string
}

/** Every durable consumer. Like the stream, they are made by the migration Job, and by no service. */
export const eventConsumers: readonly EventConsumerEntry[] = [{ service: 'webhooks', reaction: 'schedule-delivery' }]

export const consumerName = ({ service, reaction }: EventConsumerEntry): string => `${service}-${reaction}`

/**
 * What a consumer hears. A 2.9 server takes a single subject, so a service that consumes several kinds gets all events
 * and acknowledges the others unread.
 */
export function consumedSubject({ service }: EventConsumerEntry): string {
  const [kind, ...more] = eventKinds.filter((name) => events[name].consumedBy.includes(service))
  return kind === undefined || more.length > 0 ? eventSubjects : eventSubject(kind)
}

const nanosPerMs = 1_000_000

/** The stream drops a second copy of an event within this time. Later copies are dropped by the inboxes of consumers. */
const deduplicationMs = 10 * 60_000
export const streamMaxAgeDays = 14
/** How long a service keeps an event at least after it was published, whatever its settings say. */
export const eventsKeepHoursMin = 49
const streamMaxAgeMs = streamMaxAgeDays * 24 * 3_600_000
/** No stream may be smaller: it would drop events before they are consumed. */
export const streamBytesMin = 64 * 1024 ** 2
/** Room for about a million events. */
export const streamBytesDefault = 1024 ** 3

/** What a deployment decides about the stream. */
export interface StreamSettings {
  /** How many servers keep a copy. */
  readonly replicas: number
  /** When it is full, the oldest events go. The services still have those of the last days. */
  readonly bytesMax: number
}

/**
 * The stream's configuration, in JetStream's words. The first part decides where messages come from and where they go:
 * JetStream moves them with the server's own rights, which no permission of a user limits.
 */
export const streamConfiguration = ({ replicas, bytesMax }: StreamSettings) => ({
  ...exactStreamFields,
  num_replicas: replicas,
  max_age: streamMaxAgeMs * nanosPerMs,
  max_bytes: bytesMax,
  duplicate_window: deduplicationMs * nanosPerMs,
})

const exactStreamFields = {
  name: eventStream,
  subjects: [eventSubjects],
  retention: 'limits',
  storage: 'file',
  discard: 'old',
  max_consumers: -1,
  max_msgs: -1,
  max_msgs_per_subject: -1,
  max_msg_size: -1,
  // What somebody takes out by hand leaves no trace: the stream stays the same, so nobody publishes it again.
  deny_delete: true,
  deny_purge: true,
}

/** How many events of a consumer may wait for their acknowledgement, over all replicas, and how long. */
export const unacknowledgedMax = 1_024
const ackWaitMs = 30_000

/** The configuration of a durable consumer, in JetStream's words. */
export const consumerConfiguration = (consumer: EventConsumerEntry) => ({
  ...exactConsumerFields(consumer),
  ack_wait: ackWaitMs * nanosPerMs,
  max_ack_pending: unacknowledgedMax,
})

const exactConsumerFields = (consumer: EventConsumerEntry) => ({
  durable_name: consumerName(consumer),
  deliver_policy: 'all',
  ack_policy: 'explicit',
  replay_policy: 'instant',
  filter_subject: consumedSubject(consumer),
  max_deliver: -1,
})

/**
 * What a configuration must say. Whatever it names nowhere must be empty, because a server knows options that are not
 * known here.
 */
export interface Expectation {
  readonly exactly: Readonly<Record<string, unknown>>
  /** Sizes. A deployment may raise them while services run that were started with smaller ones. */
  readonly atLeast: Readonly<Record<string, number>>
  /** What moves no message to another place and loses none. */
  readonly harmless: readonly string[]
}

/** What a service expects of the stream that it uses. @param replicas the fewest copies */
export const expectedStream = (replicas: number): Expectation => ({
  exactly: exactStreamFields,
  atLeast: {
    num_replicas: replicas,
    max_age: streamMaxAgeMs * nanosPerMs,
    max_bytes: streamBytesMin,
    duplicate_window: deduplicationMs * nanosPerMs,
  },
  harmless: ['description', 'metadata', 'placement', 'compression'],
})

export const expectedConsumer = (consumer: EventConsumerEntry): Expectation => ({
  exactly: exactConsumerFields(consumer),
  atLeast: {},
  // Newer servers give it the same name twice, as `name` too.
  harmless: ['name', 'description', 'metadata', 'num_replicas', 'ack_wait', 'max_ack_pending', 'max_waiting'],
})

/**
 * How services hear from the keeper whether the stream is there and how it is configured. They ask JetStream nothing about
 * it: JetStream sends its reply to whatever subject the request names, also to one of `events.>`, with rights of its own. The
 * keeper replies to nobody. It says what it finds to all, every two seconds and when it is asked.
 */
export const streamNews = { ask: `stream.${eventStream}.ask`, found: `stream.${eventStream}.found` } as const

/** JetStream's subjects for the stream. Its keeper alone may use them. */
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

/** The events that a service publishes. One that nobody consumes does not go through the stream. */
export const publishedKinds = (service: ServiceName): readonly EventKind[] =>
  eventKinds.filter((kind) => events[kind].emittedBy === service && events[kind].consumedBy.length > 0)

export const usesStream = (service: ServiceName): boolean =>
  publishedKinds(service).length > 0 || eventConsumers.some((consumer) => consumer.service === service)

/** The subjects that a user of the broker may publish and subscribe to. */
export interface BrokerPermissions {
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
}

const callSubjects = (operation: Operation): readonly string[] => [
  rpcSubject(operation),
  ...(isSentAgain(operation) ? [rpcSubjectOfAll(operation)] : []),
]

/** What one service may send and hear: it follows from the tables of operations and events. */
export function servicePermissions(service: ServiceName): BrokerPermissions {
  const calls = allOperations.filter((operation) => mayCall(service, operation)).flatMap(callSubjects)
  const emits = publishedKinds(service).map(eventSubject)
  const consumes = eventConsumers
    .filter((consumer) => consumer.service === service)
    .map(consumerApi)
    .flatMap(({ info, next, acknowledge }) => [info, next, acknowledge])
  const served = servedSubjects(service)
  const replies = callersOf(service).map((caller) => `${replyInbox(inboxOf(caller), service)}.>`)
  return {
    publish: [...calls.sort(), ...emits, ...(usesStream(service) ? [streamNews.ask] : []), ...consumes, ...replies],
    // In the service's queue alone: who hears a call takes it from the service, so nobody listens unnoticed. What hangs is
    // sent to all in the end.
    subscribe: [
      `${served.rpc} ${service}`,
      served.all,
      served.team,
      ...(usesStream(service) ? [streamNews.found] : []),
      `${inboxOf(service)}.>`,
    ],
  }
}

/**
 * JetStream publishes with rights of its own what a stream or a consumer is told to pass on. So whoever may make them may
 * send anything to anybody. One user may, and nothing else.
 */
function streamKeeperPermissions(): BrokerPermissions {
  const consumers = eventConsumers.map(consumerApi).flatMap(({ info, create }) => [info, create])
  return {
    publish: [streamApi.info, streamApi.create, streamApi.update, streamNews.found, ...consumers],
    subscribe: [streamNews.ask, `${inboxOf(streamKeeper)}.>`],
  }
}

/** What a user of the broker may send and hear. */
export function permissionsOf(user: BrokerUser): BrokerPermissions {
  if (user === streamKeeper) return streamKeeperPermissions()
  const subscribe = [`${inboxOf(user)}.>`]
  // A gateway for providers calls what they call, and serves nothing.
  if (user === providerGateway) return { publish: providerOperations.flatMap(callSubjects).sort(), subscribe }
  if (user !== teamConsole) return servicePermissions(user)
  // The console calls the team's operations, and nothing that services call.
  return { publish: serviceNames.map((service) => servedSubjects(service).team), subscribe }
}

/** Who may call a service, and so hears its replies. The table says it, so no server has to remember who has asked. */
const callersOf = (service: ServiceName): readonly BrokerUser[] => [
  ...serviceNames.filter((caller) => allOperations.some((one) => one.service === service && mayCall(caller, one))),
  teamConsole,
  ...(providerOperations.some((one) => one.service === service) ? ([providerGateway] as const) : []),
]

function mayCall(service: ServiceName, operation: Operation): boolean {
  if (operation.service === service) return false
  if (operation.callers !== undefined) return operation.callers.includes(service)
  return service === 'gateway' && ['operator', 'provider'].includes(audiences[operation.audience].caller)
}

/** The variable of the configuration that holds a user's permissions. */
export const permissionsVariable = (user: BrokerUser): string => `${user}_permissions`

/** Permissions in the language of nats-server's configuration. */
export function renderPermissions(permissions: BrokerPermissions): string {
  const list = (subjects: readonly string[]) => `[\n${subjects.map((subject) => `    "${subject}"`).join('\n')}\n  ]`
  return ['{', `  publish: ${list(permissions.publish)}`, `  subscribe: ${list(permissions.subscribe)}`, '}'].join('\n')
}

/** A file of variables, each with the permissions of a user. */
const fileOf = (header: readonly string[], users: readonly (readonly [BrokerUser, BrokerPermissions])[]): string => {
  const variables = users.map(([user, may]) => `${permissionsVariable(user)} = ${renderPermissions(may)}`)
  return `${[header.join('\n'), ...variables].join('\n\n')}\n`
}

/** The text of deploy/nats/permissions.conf. */
export const renderPermissionsFile = (): string =>
  fileOf(
    [
      '# What each program may send and hear, for every environment: a main configuration file includes this one inside',
      '# its authorization block and gives each user its variable. Written from the operation and event tables by',
      '# `npm run generate`; a test compares them. Read by nats-server 2.9 and newer.',
    ],
    brokerUsers.map((user) => [user, permissionsOf(user)] as const),
  )
