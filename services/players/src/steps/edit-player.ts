import type { TeamPlayer } from '@backoffice/contracts'
import type { ExecuteTools } from '@backoffice/service-runtime'
import type { Changed, PlayerRecord } from '../domain/player.ts'
import { seePlayer } from '../storage/persons.ts'
import { insertChanges } from '../storage/player-changes.ts'
import { lockPlayer, updatePlayer } from '../storage/players.ts'
import { auditedChange, teamPlayer } from '../views/player.ts'

/**
 * One edit of one player by a person of the team, recorded with who, what and why.
 * @throws {Rejection} PLAYER_NOT_FOUND, and what `edit` refuses
 */
export async function editPlayer(
  { input, actor }: { readonly input: { playerId: string; reason?: string }; readonly actor: string },
  { db, now, changed: audited }: ExecuteTools,
  edit: (player: PlayerRecord, now: Date) => Changed<PlayerRecord>,
): Promise<TeamPlayer> {
  const changed = edit(await lockPlayer(db, input.playerId), now)
  await updatePlayer(db, changed.player)
  await insertChanges(db, [{ ...changed, actor, reason: input.reason ?? null }], now)
  audited(...auditedChange(changed))
  return teamPlayer(await seePlayer(db, changed.player))
}
