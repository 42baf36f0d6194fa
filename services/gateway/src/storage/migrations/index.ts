import { type Migration, runtimeMigrations } from '@backoffice/service-runtime/migrations'
import { operatorTables } from './0001-operators.ts'
import { requestTables } from './0002-requests.ts'
import { keptRecords } from './0003-kept-records.ts'
import { replayProtection } from './0004-replay-protection.ts'
import { claimsInPlace } from './0005-claims-in-place.ts'
import { shorterClaims } from './0006-shorter-claims.ts'
import { credentialUse } from './0007-credential-use.ts'
import { fixedTimeZone } from './0008-fixed-time-zone.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('gateway'),
  operatorTables,
  requestTables,
  keptRecords,
  replayProtection,
  claimsInPlace,
  shorterClaims,
  credentialUse,
  fixedTimeZone,
]
