import type { HandlersOf } from '@backoffice/service-runtime'
import type { GameProvider } from './games/game-provider.ts'
import * as games from './games/operations.ts'
import * as kyc from './kyc/operations.ts'
import * as play from './play/operations.ts'
import * as players from './players/operations.ts'

export const handlers = (settings: {
  readonly gamesUrl: string
  readonly provider: GameProvider
  readonly keepYears: number
  readonly kycTermMs: number | null
  readonly development: boolean
  readonly stakes: play.StakeReads
}): HandlersOf<'players'> => ({
  ...players,
  ...kyc,
  ...games,
  placeBet: play.placeBet(settings),
  playSpin: play.playSpin(settings),
  readPlaySession: play.readPlaySession,
  listGames: games.listGames(settings.gamesUrl),
  openGameSession: games.openGameSession(settings),
  decideKycInSandbox: kyc.decideKycInSandbox(settings),
  decideKyc: kyc.decideKyc(settings),
  setDocumentUrl: kyc.setDocumentUrl(settings),
  anonymisePlayer: players.anonymisePlayer(settings),
})
