import { eventSubject } from './broker.ts'
import { type EventKind, eventKinds, events } from './events.ts'
import type { ServiceName } from './operation.ts'

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
/** How long the stream keeps an event. */
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

/** What a service expects of its consumer. */
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

/** Whether a service publishes to the stream or consumes from it. */
export const usesStream = (service: ServiceName): boolean =>
  publishedKinds(service).length > 0 || eventConsumers.some((consumer) => consumer.service === service)
