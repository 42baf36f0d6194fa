import { type Migration, runtimeMigrations } from '@backoffice/service-runtime/migrations'
import { playerTables } from './0001-players.ts'
import { gameTables } from './0002-games.ts'
import { keptRecords } from './0004-kept-records.ts'
import { gamesRights } from './0006-games-rights.ts'
import { sealedIdentity } from './0007-sealed-identity.ts'
import { kycQueueOfEnvironment } from './0008-kyc-queue-of-environment.ts'
import { search } from './0009-search.ts'
import { playersByCpf } from './0010-players-by-cpf.ts'
import { playersByEmail } from './0011-players-by-email.ts'
import { playersByExternalId } from './0012-players-by-external-id.ts'
import { playersByName } from './0013-players-by-name.ts'
import { documentSources } from './0014-document-sources.ts'
import { oneQueueIndex } from './0015-one-queue-index.ts'
import { sessionsOfPlayer } from './0016-sessions-of-player.ts'
import { oneSessionIndex } from './0017-one-session-index.ts'
import { takenCases } from './0018-taken-cases.ts'
import { searchByPhone } from './0019-search-by-phone.ts'
import { playersByPhone } from './0020-players-by-phone.ts'
import { brand } from './0021-brand.ts'
import { documentSourceChanged } from './0022-document-source-changed.ts'
import { kycTerm } from './0024-kyc-term.ts'
import { excludedPersons } from './0025-excluded-persons.ts'
import { endingApprovals } from './0026-ending-approvals.ts'
import { kycChanges } from './0028-kyc-changes.ts'
import { reconcilable } from './0029-reconcilable.ts'

/** In the order in which they are applied. */
export const migrations: readonly Migration[] = [
  ...runtimeMigrations('players'),
  playerTables,
  gameTables,
  keptRecords,
  gamesRights,
  sealedIdentity,
  kycQueueOfEnvironment,
  search,
  playersByCpf,
  playersByEmail,
  playersByExternalId,
  playersByName,
  documentSources,
  oneQueueIndex,
  sessionsOfPlayer,
  oneSessionIndex,
  takenCases,
  searchByPhone,
  playersByPhone,
  brand,
  documentSourceChanged,
  kycTerm,
  excludedPersons,
  endingApprovals,
  kycChanges,
  reconcilable,
]
