import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { type EventKind, eventKinds, events } from './events.ts'
import { audiences, type Operation, type ServiceName, serviceNames } from './operation.ts'
import { EnvironmentName, Id, Timestamp } from './resources.ts'
import { described, object, text } from './schema.ts'

type Named = Pick<Operation, 'service' | 'id'>

/** The subject of an operation that operators or other services call. */
export const rpcSubject = ({ service, id }: Named): string => `rpc.${service}.${id}`
/** The same call, taken by all replicas of the service and not by one of them. */
export const rpcSubjectOfAll = (operation: Named): string => `${rpcSubject(operation)}.all`
/** The subject of an operation that a person of the team calls. It says nothing about who: the call's headers prove that. */
export const teamSubject = ({ service, id }: Named): string => `team.${service}.${id}`

/** What an event is published under. */
export const eventSubject = (kind: EventKind): string => `events.${kind}`
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
  /** From one service to another: the public key to which the reply is sealed. The team signs its own. */
  sealTo: 'Seal-To',
  /** From the gateway: a `KeyClaim`, as JSON. */
  key: 'Key',
} as const

/**
 * What the gateway remembers of an Idempotency-Key. A service finds by it what a gateway that was restored has forgotten, and
 * tells by it whether a call is the same, whichever release of the gateway read the body.
 */
export const KeyClaim = object({
  /** SHA-256 of the operator, the environment and the key, in base64url. */
  digest: Type.String({ pattern: '^[\\w-]{43}$' }),
  /** SHA-256 of the request as it was sent, in base64url: what the key stands for. The release before does not say it. */
  request: Type.Optional(Type.String({ pattern: '^[\\w-]{43}$' })),
  /** Until when the key stands for its operation. */
  until: Timestamp,
})
export type KeyClaim = Static<typeof KeyClaim>

/** Whether people of the team call an operation, each of whom signs the call. */
export const isByPeople = ({ audience }: Pick<Operation, 'audience'>): boolean =>
  audiences[audience].caller === 'person'

/** The subject of an operation, whoever calls it. */
export const subjectOf = (operation: Named & Pick<Operation, 'audience'>): string =>
  isByPeople(operation) ? teamSubject(operation) : rpcSubject(operation)

/** Whether a call may be sent again while its reply is awaited. Whatever is sent again has one effect. */
export const isSentAgain = (operation: Pick<Operation, 'audience' | 'sentOnce'>): boolean =>
  audiences[operation.audience].isSentAgain && operation.sentOnce !== true

/**
 * Whether the reply is sealed to a key of whoever asked, so that hearing it gives nothing: it has what is shown once, or
 * what is masked otherwise. Replies to operators are not: see docs/security.md.
 */
export const isReplySealed = (operation: Operation, input: unknown): boolean =>
  audiences[operation.audience].isSealed &&
  (operation.discloses === true ||
    showsSecret(operation.reply) ||
    (input as { readonly unmask?: unknown } | null)?.unmask === true)

/** By the names of its fields: one that is called a secret, and is a text. */
function showsSecret(reply: TSchema): boolean {
  let shows = secretsKnown.get(reply)
  if (shows === undefined) {
    const { properties = {}, anyOf = [], items } = reply as Shape
    const isSecret = ([name, schema]: [string, TSchema]) => /secret/i.test(name) && isText(schema)
    const inside = [...Object.values(properties), ...anyOf, ...(items === undefined ? [] : [items])]
    shows = Object.entries(properties).some(isSecret) || inside.some(showsSecret)
    secretsKnown.set(reply, shows)
  }
  return shows
}

const isText = ({ type, anyOf = [] }: TSchema): boolean => type === 'string' || (anyOf as TSchema[]).some(isText)

/** What was found out once. It is asked at every call. */
const secretsKnown = new WeakMap<TSchema, boolean>()

/** As much of JSON Schema as the tables of operations use. */
interface Shape {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly anyOf?: readonly TSchema[]
  readonly items?: TSchema
}

/** The user that makes the stream and its consumers, and keeps them. It belongs to no service and to no person. */
export const streamKeeper = 'streams'
/** Passes on what the team calls. It can speak for nobody: each call is signed by its person. */
export const teamConsole = 'console'
/** A gateway that serves providers of games alone: it may pass on what they call, and hears nothing but replies. */
export const providerGateway = 'providers'
/** The users of the broker. They are programs: no person has a password here. */
export const brokerUsers = [...serviceNames, streamKeeper, teamConsole, providerGateway] as const
export type BrokerUser = (typeof brokerUsers)[number]

type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]

/** The fields that have a value. A value that was not given is absent from a message, not undefined. */
export function defined<T extends object>(
  fields: T,
): Omit<T, Optional<T>> & { [K in Optional<T>]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

const envelopeOf = <K extends EventKind>(kind: K) =>
  object({
    id: described(Id, 'The event: equal to `X-Webhook-Id`. Drop an event that you have already seen.'),
    type: Type.Literal(kind, { description: 'Kind of event. Acknowledge and ignore kinds that you do not know.' }),
    apiVersion: text(32, { description: 'Version of the API that sends it.' }),
    environment: described(EnvironmentName, 'Where the record belongs.'),
    operatorId: described(Id, 'You, the operator.'),
    brandId: described(Id, 'The brand that the record belongs to.'),
    createdAt: described(Timestamp, 'When it happened.'),
    data: events[kind].data,
  })
type EventEnvelope<K extends EventKind> = ReturnType<typeof envelopeOf<K>>

const envelopes = Object.fromEntries(eventKinds.map((kind) => [kind, envelopeOf(kind)]))

/**
 * The envelope of an event. The JetStream message and the body of a webhook have the same bytes. There is one schema
 * object for each kind, so that each is compiled once.
 */
export const eventEnvelope = <K extends EventKind>(kind: K): EventEnvelope<K> =>
  envelopes[kind] as unknown as EventEnvelope<K>

export type EventMessage<K extends EventKind = EventKind> = Readonly<Static<EventEnvelope<K>>>
