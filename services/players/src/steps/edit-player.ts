import type { TeamPlayer } from '@backoffice/contracts'
import type { ExecuteTools } from '@backoffice/service-runtime'
import type { Changed, PlayerRecord } from '../domain/player.ts'
import { insertChanges } from '../storage/player-changes.ts'
import { lockPlayer, updatePlayer } from '../storage/players.ts'
import { teamPlayer } from '../views/player.ts'

/**
 * One edit of one player by a person of the team, recorded with who, what and why.
 * @throws {Rejection} PLAYER_NOT_FOUND, and what `edit` refuses
 */
export async function editPlayer(
  { input, actor }: { readonly input: { playerId: string; reason?: string }; readonly actor: string },
  { db, now }: ExecuteTools,
  edit: (player: PlayerRecord, now: Date) => Changed<PlayerRecord>,
): Promise<TeamPlayer> {
  const { player, change } = edit(await lockPlayer(db, input.playerId), now)
  if (change !== null) {
    updatePlayer(db, player)
    await insertChanges(db, [{ playerId: player.id, at: now, actor, reason: input.reason ?? null, ...change }])
  }
  return teamPlayer(player, now)
}
