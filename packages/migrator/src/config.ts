import { type ServiceName, serviceNames } from '@backoffice/contracts'
import { type Static, Type } from '@sinclair/typebox'
import type { RolePasswords } from './prepare-database.ts'

const roles: readonly (ServiceName | 'reconciler')[] = [...serviceNames, 'reconciler']

type PasswordVariable = `DATABASE_PASSWORD_${Uppercase<ServiceName | 'reconciler'>}`
const passwordVariable = (role: ServiceName | 'reconciler') =>
  `DATABASE_PASSWORD_${role.toUpperCase()}` as PasswordVariable

const password = Type.String({ minLength: 1 })

/** The migrator's environment variables. */
export const migratorConfig = Type.Composite([
  Type.Object({
    /** postgres:// URL of the services' database, as a role that may create roles and owns the database. */
    ADMIN_DATABASE_URL: Type.String({ pattern: '^postgres(ql)?://.+/.+' }),
    /** PEM; with it the connection is TLS, and the server's certificate is verified. */
    DATABASE_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
    /** How long PostgreSQL may take to answer at all. */
    DATABASE_WAIT_MS: Type.Integer({ minimum: 0, default: 60_000 }),
    LOG_LEVEL: Type.String({ pattern: '^(fatal|error|warn|info|debug|trace|silent)$', default: 'info' }),
  }),
  // One for each role, such as DATABASE_PASSWORD_WALLET.
  Type.Object(
    Object.fromEntries(roles.map((role) => [passwordVariable(role), password])) as Record<
      PasswordVariable,
      typeof password
    >,
  ),
])
export type MigratorConfig = Static<typeof migratorConfig>

export function passwordsFrom(config: MigratorConfig): RolePasswords {
  return Object.fromEntries(roles.map((role) => [role, config[passwordVariable(role)]])) as RolePasswords
}
