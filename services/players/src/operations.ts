import type { HandlersOf } from '@backoffice/service-runtime'
import type { GameProvider } from './games/game-provider.ts'
import { listGameSessions, listGames, openGameSession, setGameAvailability } from './games/operations.ts'
import {
  countKycQueue,
  decideKyc,
  decideKycInSandbox,
  getKyc,
  kycQueue,
  releaseKycCase,
  setDocumentUrl,
  showDocumentUrl,
  submitKyc,
  takeKycCase,
} from './kyc/operations.ts'
import {
  anonymisePlayer,
  exportPlayer,
  findPlayers,
  getPlayerStanding,
  listPlayers,
  registerPlayer,
  searchPlayers,
  selfExcludePlayer,
  setDailyLimit,
  setPlayerStatus,
  showPlayer,
} from './players/operations.ts'

export const handlers = (settings: {
  readonly gamesUrl: string
  readonly provider: GameProvider
  readonly keepYears: number
  readonly kycTermMs: number | null
}): HandlersOf<'players'> => ({
  registerPlayer,
  findPlayers,
  getKyc,
  submitKyc,
  listGames: listGames(settings.gamesUrl),
  openGameSession: openGameSession(settings),
  decideKycInSandbox: decideKycInSandbox(settings),
  getPlayerStanding,
  showPlayer,
  exportPlayer,
  listPlayers,
  searchPlayers,
  listGameSessions,
  kycQueue,
  countKycQueue,
  takeKycCase,
  releaseKycCase,
  decideKyc: decideKyc(settings),
  showDocumentUrl,
  setDocumentUrl,
  setPlayerStatus,
  selfExcludePlayer,
  setDailyLimit,
  anonymisePlayer: anonymisePlayer(settings),
  setGameAvailability,
})
