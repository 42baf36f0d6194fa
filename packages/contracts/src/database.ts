import type { ServiceName } from './operation.ts'

/** The PostgreSQL login role of a service, or of reconciliation, which may only read. */
export const roleName = (name: ServiceName | 'reconciler'): string => `backoffice_${name}`
