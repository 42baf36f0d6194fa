import { type Migration, runtimeMigrations } from '@backoffice/service-runtime'
import { teamTables } from '@backoffice/team-access/migrations'
import { baseline } from './0001-baseline.ts'
import { changesNameTheirOperation } from './0002-changes-name-their-operation.ts'
import { gameProviders } from './0003-game-providers.ts'
import { changesOfLimits } from './0004-changes-of-limits.ts'
import { playersByEnvironment } from './0005-players-by-environment.ts'
import { toldStatus } from './0006-told-status.ts'
import { toldStatusOfOwners } from './0007-told-status-of-owners.ts'
import { playersByStatus } from './0008-players-by-status.ts'
import { playersOfBrandByStatus } from './0009-players-of-brand-by-status.ts'
import { playersByKycStatus } from './0010-players-by-kyc-status.ts'
import { playersOfBrandByKycStatus } from './0011-players-of-brand-by-kyc-status.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('players', teamTables),
  baseline,
  changesNameTheirOperation,
  gameProviders,
  changesOfLimits,
  playersByEnvironment,
  toldStatus,
  toldStatusOfOwners,
  playersByStatus,
  playersOfBrandByStatus,
  playersByKycStatus,
  playersOfBrandByKycStatus,
]
