import type { Db, ReadDb } from '@backoffice/service-runtime'
import type { FieldChange } from '../domain/player.ts'

/** Who changed what of a player, when and why. */
export interface PlayerChange extends FieldChange {
  readonly playerId: string
  readonly at: Date
  /** The operator's id, a person of the team, or `sandbox`. */
  readonly actor: string
  readonly reason: string | null
}

export async function insertChanges(db: Db, changes: readonly PlayerChange[]): Promise<void> {
  await db`
    insert into player_change (player_id, at, actor, field, previous, next, reason)
    select * from unnest(
      ${changes.map(({ playerId }) => playerId)}::text[], ${changes.map(({ at }) => at)}::timestamptz[],
      ${changes.map(({ actor }) => actor)}::text[], ${changes.map(({ field }) => field)}::text[],
      ${changes.map(({ previous }) => previous)}::text[], ${changes.map(({ next }) => next)}::text[],
      ${changes.map(({ reason }) => reason)}::text[]
    )
  `
}

const changesMax = 200

/** The latest changes of a player, most recent first. */
export function latestChanges(db: ReadDb, playerId: string): Promise<PlayerChange[]> {
  return db<PlayerChange>`
    select player_id, at, actor, field, previous, next, reason
    from player_change where player_id = ${playerId} order by id desc limit ${changesMax}
  `
}
