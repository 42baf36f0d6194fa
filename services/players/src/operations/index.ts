import type { HandlersOf } from '@backoffice/service-runtime'
import type { GameProvider } from '../provider/game-provider.ts'
import { anonymisePlayer } from './anonymise-player.ts'
import { countKycQueue } from './count-kyc-queue.ts'
import { decideKyc } from './decide-kyc.ts'
import { decideKycInSandbox } from './decide-kyc-in-sandbox.ts'
import { exportPlayer } from './export-player.ts'
import { findPlayers } from './find-players.ts'
import { getKyc } from './get-kyc.ts'
import { getPlayerStanding } from './get-player-standing.ts'
import { kycQueue } from './kyc-queue.ts'
import { listGameSessions } from './list-game-sessions.ts'
import { listGames } from './list-games.ts'
import { listPlayers } from './list-players.ts'
import { openGameSession } from './open-game-session.ts'
import { registerPlayer } from './register-player.ts'
import { releaseKycCase } from './release-kyc-case.ts'
import { searchPlayers } from './search-players.ts'
import { selfExcludePlayer } from './self-exclude-player.ts'
import { setDailyLimit } from './set-daily-limit.ts'
import { setDocumentUrl } from './set-document-url.ts'
import { setGameAvailability } from './set-game-availability.ts'
import { setPlayerStatus } from './set-player-status.ts'
import { showDocumentUrl } from './show-document-url.ts'
import { showPlayer } from './show-player.ts'
import { submitKyc } from './submit-kyc.ts'
import { takeKycCase } from './take-kyc-case.ts'

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
