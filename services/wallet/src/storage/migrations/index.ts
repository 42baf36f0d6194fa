import { type Migration, runtimeMigrations } from '@backoffice/service-runtime'
import { teamTables } from '@backoffice/team-access/migrations'
import { baseline } from './0001-baseline.ts'
import { openHolds } from './0002-open-holds.ts'
import { rounds } from './0003-rounds.ts'
import { moneyDays } from './0004-money-days.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('wallet', teamTables),
  baseline,
  openHolds,
  rounds,
  moneyDays,
]
