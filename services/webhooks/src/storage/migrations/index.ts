import { type Migration, runtimeMigrations } from '@backoffice/service-runtime'
import { teamTables } from '@backoffice/team-access/migrations'
import { baseline } from './0001-baseline.ts'
import { deliveryHours } from './0002-delivery-hours.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [...runtimeMigrations('webhooks', teamTables), baseline, deliveryHours]
