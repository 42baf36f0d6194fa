import {
  type BrokerPermissions,
  type BrokerUser,
  observer,
  observerPermissions,
  servicePermissions,
  streamKeeper,
  streamKeeperPermissions,
  systemObserver,
  systemObserverPermissions,
  teamConsole,
  teamConsolePermissions,
} from './broker.ts'
import { serviceNames } from './operation.ts'

/** The variable of the configuration that holds a user's permissions. */
export const permissionsVariable = (user: BrokerUser | typeof observer | typeof systemObserver): string =>
  `${user}_permissions`

/** Permissions in the language of nats-server's configuration. */
export function renderPermissions(permissions: BrokerPermissions): string {
  const list = (subjects: readonly string[]) => `[\n${subjects.map((subject) => `    "${subject}"`).join('\n')}\n  ]`
  return ['{', `  publish: ${list(permissions.publish)}`, `  subscribe: ${list(permissions.subscribe)}`, '}'].join('\n')
}

/** The text of deploy/nats/permissions.conf. */
export const renderPermissionsFile = (): string =>
  renderFile(
    [
      '# What each program may send and hear, for every environment: a main configuration file includes this one inside',
      '# its authorization block and gives each user its variable. Written from the operation and event tables by',
      '# `npm run generate`; a test compares them. Read by nats-server 2.9 and newer.',
    ],
    servicePermissions,
  )

/** The text of deploy/nats/ops-permissions.conf. */
export const renderObserverFile = (): string =>
  renderOne(observer, observerPermissions(), [
    '# What those may ask who look after the stream. Not among the permissions of the programs, because development has no',
    '# such user. Written by `npm run generate`; a test compares them.',
  ])

/** The text of deploy/nats/system-permissions.conf. */
export const renderSystemObserverFile = (): string =>
  renderOne(systemObserver, systemObserverPermissions(), [
    '# What those may ask, in the account of the servers, who look after NATS itself. Written by `npm run generate`; a',
    '# test compares them.',
  ])

const renderOne = (
  user: typeof observer | typeof systemObserver,
  permissions: BrokerPermissions,
  header: readonly string[],
): string => `${header.join('\n')}\n\n${permissionsVariable(user)} = ${renderPermissions(permissions)}\n`

function renderFile(header: readonly string[], permissionsOf: typeof servicePermissions): string {
  const services = serviceNames.map(
    (service) => `${permissionsVariable(service)} = ${renderPermissions(permissionsOf(service))}`,
  )
  const keeper = `${permissionsVariable(streamKeeper)} = ${renderPermissions(streamKeeperPermissions())}`
  const console = `${permissionsVariable(teamConsole)} = ${renderPermissions(teamConsolePermissions())}`
  return `${[header.join('\n'), ...services, keeper, console].join('\n\n')}\n`
}
