import { type Migration, runtimeMigrations } from '@backoffice/service-runtime'
import { teamTables } from '@backoffice/team-desk/migrations'
import { baseline } from './0001-baseline.ts'
import { destinationDigest } from './0002-destination-digest.ts'
import { withdrawalOfDestination } from './0003-withdrawal-of-destination.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('payments', teamTables),
  ...[baseline, destinationDigest, withdrawalOfDestination],
]
