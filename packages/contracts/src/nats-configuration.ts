import {
  type BrokerUser,
  eventSubject,
  inboxOf,
  isSentAgain,
  observer,
  replyInbox,
  rpcSubject,
  rpcSubjectOfAll,
  servedSubjects,
  streamKeeper,
  systemObserver,
  teamConsole,
} from './broker.ts'
import { consumerApi, eventConsumers, eventStream, publishedKinds, streamApi } from './event-stream.ts'
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
export const permissionsVariable = (user: PermittedUser): string => `${user}_permissions`

/** Permissions in the language of nats-server's configuration. */
export function renderPermissions(permissions: BrokerPermissions): string {
  const list = (subjects: readonly string[]) => `[\n${subjects.map((subject) => `    "${subject}"`).join('\n')}\n  ]`
  return ['{', `  publish: ${list(permissions.publish)}`, `  subscribe: ${list(permissions.subscribe)}`, '}'].join('\n')
}

type PermittedUser = BrokerUser | typeof observer | typeof systemObserver

/** A file of variables, each with the permissions of a user. */
const fileOf = (header: readonly string[], users: readonly (readonly [PermittedUser, BrokerPermissions])[]): string => {
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
    [
      ...serviceNames.map((service) => [service, servicePermissions(service)] as const),
      [streamKeeper, streamKeeperPermissions()],
      [teamConsole, teamConsolePermissions()],
    ],
  )

/** The text of deploy/nats/ops-permissions.conf. */
export const renderObserverFile = (): string =>
  fileOf(
    [
      '# What those may ask who look after the stream. Not among the permissions of the programs, because development has no',
      '# such user. Written by `npm run generate`; a test compares them.',
    ],
    [[observer, observerPermissions()]],
  )

/** The text of deploy/nats/system-permissions.conf. */
export const renderSystemObserverFile = (): string =>
  fileOf(
    [
      '# What those may ask, in the account of the servers, who look after NATS itself. Written by `npm run generate`; a',
      '# test compares them.',
    ],
    [[systemObserver, systemObserverPermissions()]],
  )
