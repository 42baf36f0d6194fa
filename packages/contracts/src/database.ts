import { type ServiceName, serviceNames } from './operation.ts'

/**
 * Who logs in to PostgreSQL: every service, for the schema that it owns, and two that see a part of what services own.
 * Reconciliation only reads. The public games have their sessions and their catalogue, in the schema of players.
 */
export type DatabaseRole = ServiceName | 'reconciler' | 'games'
export const databaseRoles: readonly DatabaseRole[] = [...serviceNames, 'reconciler', 'games']

/** The PostgreSQL login role. */
export const roleName = (name: DatabaseRole): string => `backoffice_${name}`
