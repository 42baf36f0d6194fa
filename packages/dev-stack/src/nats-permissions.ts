import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  allOperations,
  eventKinds,
  eventStream,
  eventSubject,
  events,
  type Operation,
  type ServiceName,
  serviceNames,
} from '@backoffice/contracts'

export interface NatsPermissions {
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
}

/** Every user has a private inbox prefix: none can read the replies to another. */
export const inboxOf = (user: string): string => `_INBOX_${user}`

const rpcSubject = (operation: Operation) => `rpc.${operation.service}.${operation.id}`

function mayCall(service: ServiceName, operation: Operation): boolean {
  if (operation.callers !== undefined) return operation.callers.includes(service) && operation.service !== service
  const isSignedRequest = operation.audience === 'operator' || operation.audience === 'sandbox'
  return service === 'gateway' && operation.service !== 'gateway' && isSignedRequest
}

/** Each service creates the stream where it is missing and sees whether it was lost. */
const streamSubjects = ['INFO', 'CREATE'].map((verb) => `$JS.API.STREAM.${verb}.${eventStream}`)

/** Only webhooks consumes events. */
const consumerSubjects = [
  `$JS.API.CONSUMER.CREATE.${eventStream}.>`,
  `$JS.API.CONSUMER.DURABLE.CREATE.${eventStream}.>`,
  `$JS.API.CONSUMER.INFO.${eventStream}.>`,
  `$JS.API.CONSUMER.MSG.NEXT.${eventStream}.>`,
  `$JS.ACK.${eventStream}.>`,
]

/** What one service may send and hear: its own subjects and nothing else. */
export function servicePermissions(service: ServiceName): NatsPermissions {
  // Every service resolves operations of unknown outcome and lists its audit trail, so these are not in one's table.
  const abandoned =
    service === 'gateway'
      ? serviceNames.filter((name) => name !== 'gateway').map((name) => `rpc.${name}.abandonOperation`)
      : []
  const calls = allOperations.filter((operation) => mayCall(service, operation)).map(rpcSubject)
  const emits = eventKinds.filter((kind) => events[kind].emittedBy === service).map(eventSubject)
  const consumes = service === 'webhooks'
  return {
    publish: [
      ...[...new Set([...calls, ...abandoned])].sort(),
      ...emits,
      ...streamSubjects,
      ...(consumes ? consumerSubjects : []),
    ],
    subscribe: [`rpc.${service}.>`, `team.*.${service}.>`, `${inboxOf(service)}.>`],
  }
}

/** A person of the team is known by the second token of the subject, which only that person may send. */
export function teamPermissions(user: string): NatsPermissions {
  return { publish: [`team.${user}.>`], subscribe: [`${inboxOf(user)}.>`] }
}

export const permissionsVariable = (service: ServiceName): string => `${service}_permissions`

export function renderPermissions(permissions: NatsPermissions, allowResponses: boolean): string {
  const list = (subjects: readonly string[]) =>
    subjects.length === 0 ? '[]' : `[\n${subjects.map((subject) => `    "${subject}"`).join('\n')}\n  ]`
  return [
    '{',
    `  publish: ${permissions.publish.length === 0 ? '{ deny: ">" }' : list(permissions.publish)}`,
    `  subscribe: ${list(permissions.subscribe)}`,
    ...(allowResponses ? ['  allow_responses: true'] : []),
    '}',
  ].join('\n')
}

/** The text of deploy/nats/permissions.conf. */
export function renderPermissionsFile(): string {
  const header = [
    '# What each service may send and hear, for every environment: a main configuration file includes this one inside',
    '# its authorization block and gives each user its variable. Written from the operation and event tables by',
    '# `npm run nats-permissions`; a test compares them. Read by nats-server 2.9 and newer.',
  ].join('\n')
  const blocks = serviceNames.map(
    (service) => `${permissionsVariable(service)} = ${renderPermissions(servicePermissions(service), true)}`,
  )
  return `${[header, ...blocks].join('\n\n')}\n`
}

export const permissionsFile = fileURLToPath(new URL('../../../deploy/nats/permissions.conf', import.meta.url))

// `npm run nats-permissions`
if (import.meta.main) writeFileSync(permissionsFile, renderPermissionsFile())
