import type { DatabaseRole, ServiceName } from '@backoffice/contracts'
import { quoteIdentifier, quoteLiteral } from './admin-connection.ts'

const statementTimeoutMs = 15_000
const idleTransactionTimeoutMs = 20_000

type Settings = Readonly<Record<string, string>>

/**
 * Settings that PostgreSQL gives to each session of a role. A connection could ask for them when it begins, but a pooler in
 * transaction mode refuses or forgets what a connection asks for.
 */
const ofService = (schema: ServiceName): Settings => ({
  search_path: schema,
  statement_timeout: String(statementTimeoutMs),
  idle_in_transaction_session_timeout: String(idleTransactionTimeoutMs),
  timezone: 'UTC',
})

/**
 * Of a service's own role. Its statements know the keys of what they ask for, and are planned once: an index is right
 * whatever a table holds later, and what is cheaper for an empty table is not. `jit`, because PostgreSQL takes a plan
 * without an index for dear.
 */
const ofWriter = (schema: ServiceName): Settings => ({
  ...ofService(schema),
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
})

/**
 * Of a service's role for reading: PostgreSQL refuses what such a session would write. The team's lists and exports are read
 * with it, by filters that are optional, so the planner chooses freely.
 */
export const readerSettings = (service: ServiceName): Settings => ({
  ...ofService(service),
  default_transaction_read_only: 'on',
})

export function settingsOf(role: DatabaseRole): Settings {
  return ofWriter(role === 'games' ? 'players' : role)
}

/** The statements that give a role its settings. */
export const settingStatements = (role: string, settings: Settings): string[] =>
  Object.entries(settings).map(
    ([name, value]) => `alter role ${quoteIdentifier(role)} set ${name} = ${quoteLiteral(value)}`,
  )
