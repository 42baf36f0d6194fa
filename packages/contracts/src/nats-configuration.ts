import {
  type BrokerUser,
  brokerUsers,
  eventSubject,
  inboxOf,
  isSentAgain,
  replyInbox,
  rpcSubject,
  rpcSubjectOfAll,
  servedSubjects,
  streamKeeper,
  teamConsole,
} from './broker.ts'
import { consumerApi, eventConsumers, publishedKinds, streamApi, streamNews, usesStream } from './event-stream.ts'
import { type Operation, type ServiceName, serviceNames } from './operation.ts'
import { allOperations } from './operations/index.ts'

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
export function streamKeeperPermissions(): BrokerPermissions {
  const consumers = eventConsumers.map(consumerApi).flatMap(({ info, create }) => [info, create])
  return {
    publish: [streamApi.info, streamApi.create, streamApi.update, streamNews.found, ...consumers],
    subscribe: [streamNews.ask, `${inboxOf(streamKeeper)}.>`],
  }
}

/** The console calls the team's operations, and nothing that services call. */
export function teamConsolePermissions(): BrokerPermissions {
  return {
    publish: serviceNames.map((service) => servedSubjects(service).team),
    subscribe: [`${inboxOf(teamConsole)}.>`],
  }
}

/** What a user of the broker may send and hear. */
export function permissionsOf(user: BrokerUser): BrokerPermissions {
  if (user === streamKeeper) return streamKeeperPermissions()
  return user === teamConsole ? teamConsolePermissions() : servicePermissions(user)
}

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
