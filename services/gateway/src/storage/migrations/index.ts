import { type Migration, runtimeMigrations } from '@backoffice/service-runtime'
import { teamTables } from '@backoffice/team-access/migrations'
import { baseline } from './0001-baseline.ts'
import { endedSessions } from './0002-ended-sessions.ts'
import { dailyQuotas } from './0003-daily-quotas.ts'
import { homologation } from './0004-homologation.ts'
import { refusedRequests } from './0005-refused-requests.ts'
import { providers } from './0006-providers.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('gateway', teamTables),
  baseline,
  endedSessions,
  dailyQuotas,
  homologation,
  refusedRequests,
  providers,
]
