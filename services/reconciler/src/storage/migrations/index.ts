import { type Migration, runtimeMigrations } from '@backoffice/service-runtime/migrations'
import { reconciliation } from './0001-reconciliation.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [...runtimeMigrations('reconciler'), reconciliation]
