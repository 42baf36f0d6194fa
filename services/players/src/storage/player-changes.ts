import type { Db, ReadDb } from '@backoffice/service-runtime'
import type { Changed, FieldChange, PlayerRecord } from '../domain/player.ts'

/** Who changed what of a player, when and why. */
export interface PlayerChange extends FieldChange {
  readonly playerId: string
  readonly at: Date
  /** The operator's id, a person of the team, or `sandbox`. */
  readonly actor: string
  readonly reason: string | null
}

/** A change as it was made: nothing is recorded when nothing happened. */
export interface MadeChange extends Changed<PlayerRecord>, Pick<PlayerChange, 'actor' | 'reason'> {}

export async function insertChanges(db: Db, made: readonly MadeChange[], now: Date): Promise<void> {
  const changes = made.flatMap(({ player, change, actor, reason }) =>
    change === null ? [] : [{ playerId: player.id, actor, reason, ...change }],
  )
  if (changes.length === 0) return
  await db`
    insert into player_change (at, player_id, actor, field, previous, next, reason)
    select ${now}::timestamptz, c.* from unnest(
      ${changes.map(({ playerId }) => playerId)}::text[], ${changes.map(({ actor }) => actor)}::text[],
      ${changes.map(({ field }) => field)}::text[], ${changes.map(({ previous }) => previous)}::text[],
      ${changes.map(({ next }) => next)}::text[], ${changes.map(({ reason }) => reason)}::text[]
    ) as c
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
