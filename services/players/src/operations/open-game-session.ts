import { createHash, randomBytes } from 'node:crypto'
import { operations, Rejection, type Scope, sandboxGames, toMinorUnits } from '@backoffice/contracts'
import { command, newId, type QueryTools } from '@backoffice/service-runtime'
import { admitToPlay } from '../domain/play.ts'
import { isSelfExcluded, limitNow } from '../domain/responsible-gaming.ts'
import { demoSessionMs, demoStartBalance } from '../domain/slot.ts'
import type { GameProvider } from '../provider/game-provider.ts'
import { GameSessionEntity, type PlayerRow } from '../storage/entities.ts'
import { requireGame } from '../storage/games.ts'
import { findPlayer } from '../storage/players.ts'

/** Refuses as the reserved games of the sandbox say. */
function refuseReservedGame(scope: Scope, gameId: string): void {
  if (scope.environment !== 'sandbox') return
  if (gameId === sandboxGames.rgBlocked) throw new Rejection('RG_BLOCKED', { reason: 'sandbox_trigger' })
  if (gameId === sandboxGames.providerUnavailable) throw new Rejection('PROVIDER_UNAVAILABLE')
}

/** Eligibility is judged, and a provider is asked, before the transaction: no call leaves while a row is locked. */
export const openGameSession = ({
  gamesUrl,
  provider,
}: {
  readonly gamesUrl: () => string
  readonly provider: GameProvider
}) =>
  command(operations.players.openGameSession, {
    async prepare({ input, scope, requestId, deadline }, tools) {
      const player = await findPlayer(tools.em, { playerId: input.playerId, brandId: scope.brandId })
      refuseReservedGame(scope, input.gameId)
      const game = await requireGame(tools.sql, { gameId: input.gameId, brandId: scope.brandId })
      const dayDeposits = await readDayDeposits(player, scope, { requestId, deadline }, tools)
      admitToPlay({
        status: player.status,
        kycStatus: player.kycStatus,
        selfExcluded: isSelfExcluded(player, tools.now),
        dailyLimit: limitNow(player, tools.now),
        dayDeposits,
      })
      const sessionId = newId('ses')
      if (scope.environment === 'sandbox') return { sessionId, ...openDemonstration(gamesUrl(), game.id, tools.now) }
      const launch = {
        sessionId,
        gameId: game.id,
        playerId: player.id,
        brandId: scope.brandId,
        currency: player.currency,
      }
      const { gameUrl, expiresAt } = await provider.launch(launch, deadline)
      return { sessionId, mode: 'real' as const, gameUrl, expiresAt, tokenSha256: null, demoBalance: null }
    },

    async execute({ input, scope }, { em, now }, { sessionId, ...session }) {
      const { playerId, gameId } = input
      const gameUrl = session.mode === 'demo' ? withoutToken(session.gameUrl) : session.gameUrl
      em.create(GameSessionEntity, {
        id: sessionId,
        playerId,
        brandId: scope.brandId,
        gameId,
        createdAt: now,
        ...session,
        gameUrl,
      })
      return {
        id: sessionId,
        playerId,
        gameId,
        mode: session.mode,
        gameUrl: session.gameUrl,
        expiresAt: session.expiresAt.toISOString(),
      }
    },

    stored: (reply) => (reply.mode === 'demo' ? { ...reply, gameUrl: withoutToken(reply.gameUrl) } : reply),
  })

/** The URL of a demonstration carries its token, which is shown once and kept only as a digest. */
const withoutToken = (gameUrl: string) => gameUrl.replace(/#.*$/, '')

/** What the day's deposits sum to, asked only where a limit makes it matter. */
async function readDayDeposits(
  player: PlayerRow,
  scope: Scope,
  call: { readonly requestId: string; readonly deadline: Date },
  { rpc, now }: QueryTools,
): Promise<bigint> {
  if (limitNow(player, now) === null) return 0n
  const { total } = await rpc.call(operations.payments.readDayDeposits, {
    scope,
    input: { playerId: player.id },
    ...call,
  })
  return toMinorUnits(total)
}

/** In the fragment the token reaches the page, but no server's log and no Referer. */
function openDemonstration(gamesUrl: string, gameId: string, now: Date) {
  const token = randomBytes(24).toString('base64url')
  return {
    mode: 'demo' as const,
    gameUrl: `${gamesUrl}/demo/${gameId}#${token}`,
    expiresAt: new Date(now.getTime() + demoSessionMs),
    tokenSha256: createHash('sha256').update(token).digest(),
    demoBalance: demoStartBalance,
  }
}
