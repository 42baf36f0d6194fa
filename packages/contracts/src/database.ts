import { type ServiceName, serviceNames } from './operation.ts'

/**
 * Who logs in to PostgreSQL: every service, for the schema that it owns, and the public games, which have their sessions
 * and their catalogue in the schema of players.
 */
export type DatabaseRole = ServiceName | 'games'
export const databaseRoles: readonly DatabaseRole[] = [...serviceNames, 'games']

/** The PostgreSQL login role. */
export const roleName = (name: DatabaseRole): string => `backoffice_${name}`
