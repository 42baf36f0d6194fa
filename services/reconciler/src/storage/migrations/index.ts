import { type Migration, runtimeMigrations } from '@backoffice/service-runtime'
import { teamTables } from '@backoffice/team-access/migrations'
import { baseline } from './0001-baseline.ts'
import { momentsInOrder } from './0002-moments-in-order.ts'
import { proof } from './0003-proof.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('reconciler', teamTables),
  baseline,
  momentsInOrder,
  proof,
]
