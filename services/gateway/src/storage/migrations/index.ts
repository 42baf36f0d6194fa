import { type Migration, runtimeMigrations } from '@backoffice/service-runtime/migrations'
import { operatorTables } from './0001-operators.ts'
import { requestTables } from './0002-requests.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [...runtimeMigrations('gateway'), operatorTables, requestTables]
