import type { ServiceName } from './operation.ts'

/** The login role of a service in PostgreSQL, or that of reconciliation, which only reads. */
export const roleName = (name: ServiceName | 'reconciler'): string => `backoffice_${name}`
