import { type BrokerPermissions, servicePermissions } from './broker.ts'
import { type ServiceName, serviceNames } from './operation.ts'

/** The variable of the configuration that holds a service's permissions. */
export const permissionsVariable = (service: ServiceName): string => `${service}_permissions`

/** Permissions in the language of nats-server's configuration. */
export function renderPermissions(permissions: BrokerPermissions, allowResponses: boolean): string {
  const list = (subjects: readonly string[]) => `[\n${subjects.map((subject) => `    "${subject}"`).join('\n')}\n  ]`
  return [
    '{',
    `  publish: ${list(permissions.publish)}`,
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
