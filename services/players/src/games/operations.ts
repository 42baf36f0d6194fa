import { createHash, randomBytes } from 'node:crypto'
import { operations, Rejection, type Scope, sandboxGames } from '@backoffice/contracts'
import { handle, toPage, withIsoTimes } from '@backoffice/service-runtime'
import { limitNow } from '../players/player.ts'
import { readPlayers, requirePlayer, seePlayers } from '../players/records.ts'
import { readDayDeposits } from './day-deposits.ts'
import type { GameProvider } from './game-provider.ts'
import { admitToPlay, demoSessionMs, demoStartBalance } from './play.ts'
import {
  type FoundGame,
  findCatalogueGame,
  insertSessions,
  listCatalogue,
  listProviders,
  listSessions,
  setAvailability,
  setProvider,
} from './records.ts'

/** @param gamesUrl where players' browsers reach the public games, which serve the thumbnails */
export const listGames = (gamesUrl: string) =>
  handle(operations.players.listGames, async ({ scope }, { db }) => {
    const games = await listCatalogue(db, scope)
    return { data: games.map((game) => ({ ...game, thumbnailUrl: `${gamesUrl}/thumbnails/${game.id}.svg` })) }
  })

/** The reserved games of the sandbox are refused in the way that they stand for. */
function refuseReservedGame(scope: Scope, gameId: string): void {
  if (scope.environment !== 'sandbox') return
  if (gameId === sandboxGames.rgBlocked) throw new Rejection('RG_BLOCKED', { reason: 'sandbox_trigger' })
  if (gameId === sandboxGames.selfExcluded) throw new Rejection('RG_BLOCKED', { reason: 'self_exclusion' })
  if (gameId === sandboxGames.overLimit) throw new Rejection('RG_BLOCKED', { reason: 'daily_limit' })
  if (gameId === sandboxGames.providerUnavailable) throw new Rejection('PROVIDER_UNAVAILABLE')
}

/**
 * The player is judged and the provider is called before the transaction, because nothing is called while a row is
 * locked.
 */
export const openGameSession = ({
  gamesUrl,
  provider,
}: {
  readonly gamesUrl: string
  readonly provider: GameProvider
}) =>
  handle(operations.players.openGameSession, {
    async prepare(call, { db, rpc, newId }) {
      const { input, scope, deadline } = call
      const { playerId, gameId } = input
      const { brandId } = scope
      const [[stored], game] = await Promise.all([
        readPlayers(db.reader, [{ playerId, brandId }]),
        findCatalogueGame(db.reader, { gameId, brand: scope }),
      ])
      const [player] = await seePlayers(db.reader, [stored])
      if (player === undefined) throw new Rejection('PLAYER_NOT_FOUND')
      refuseReservedGame(scope, gameId)
      if (game === undefined) throw new Rejection('GAME_NOT_FOUND')
      const { status, kycStatus, currency } = player
      const dailyLimit = limitNow(player, player.seenAt)
      admitToPlay({
        ...{ status, kycStatus, dailyLimit },
        // The sum of the day's deposits matters only if there is a limit.
        dayDeposits: dailyLimit === null ? 0n : await readDayDeposits(call, rpc),
      })
      const id = newId('ses')
      if (scope.environment === 'sandbox') return { id, ...demonstration(gamesUrl, game, player.seenAt) }
      return { id, ...(await provider.launch({ sessionId: id, gameId, playerId, brandId, currency }, deadline)) }
    },

    conflictKeys: () => [],
    load: async (calls) => calls,

    decide({ input, scope, prepared }, _state, { now }) {
      const { playerId, gameId } = input
      const { id, mode, gameUrl, expiresAt } = prepared
      return {
        reply: { id, playerId, gameId, mode, gameUrl, expiresAt: expiresAt.toISOString() },
        change: {
          ...prepared,
          ...{ playerId, gameId, brandId: scope.brandId, createdAt: now, gameUrl: storedUrl({ mode, gameUrl }) },
        },
      }
    },

    save: (sessions) => [insertSessions(sessions)],
    // The URL is not stored, so a repeated request cannot get it: it is told to open another session.
    stored: () => null,
  })

/**
 * Whoever has the URL can play in the player's name, so it is shown once and not kept. A demonstration's is kept without
 * its token. Where in the provider's URL its token stands is not known, so a digest of all of it is kept: enough to
 * recognise a URL that somebody shows.
 */
const storedUrl = ({ mode, gameUrl }: { readonly mode: 'demo' | 'real'; readonly gameUrl: string }) =>
  mode === 'demo' ? gameUrl.replace(/#.*$/, '') : `sha256:${createHash('sha256').update(gameUrl).digest('hex')}`

/** A token in the fragment reaches the page, but no server log and no Referer header. */
function demonstration(gamesUrl: string, { id, stakesSandboxWallet }: FoundGame, now: Date) {
  const token = randomBytes(24).toString('base64url')
  return {
    mode: 'demo' as const,
    gameUrl: `${gamesUrl}/demo/${id}#${token}`,
    expiresAt: new Date(now.getTime() + demoSessionMs),
    tokenSha256: createHash('sha256').update(token).digest(),
    demoBalance: stakesSandboxWallet ? null : demoStartBalance,
  }
}

export const listGameSessions = handle(operations.players.listGameSessions, async ({ input }, { db }) => {
  const { playerId, before, limit } = input
  await requirePlayer(db, playerId)
  const sessions = await listSessions(db, { playerId, before, limit: limit + 1 })
  return toPage(sessions.map(withIsoTimes), limit, ({ id }) => id)
})

export const setGameAvailability = handle(operations.players.setGameAvailability, {
  async execute({ input: { brandId, gameId, available } }, { db }) {
    if (!(await setAvailability(db, { brandId, gameId, available }))) throw new Rejection('GAME_NOT_FOUND')
    return { gameId, available }
  },
})

export const listGameProviders = handle(operations.players.listGameProviders, async (_call, { db }) => ({
  data: await listProviders(db),
}))

export const setGameProvider = handle(operations.players.setGameProvider, {
  async execute({ input: { gameId, providerId } }, { db }) {
    if (!(await setProvider(db, { gameId, providerId }))) throw new Rejection('GAME_NOT_FOUND')
    return { gameId, providerId }
  },
})
