// Records.

import { type AuditedChange, type Environment, type IdOf, raisedMax, toMinorUnits } from '@backoffice/contracts'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import { type ChangedPlayer, coolingOffMs, type FieldChange, type PlayerRecord } from './player.ts'

/** Who changed what of a player, when and why. */
export interface PlayerChange extends FieldChange {
  readonly playerId: IdOf<'player'>
  readonly at: Date
  /** The operator's id, a person of the team, or `sandbox`. */
  readonly actor: string
  readonly reason: string | null
  /** Of the call that changed it: its entry in the audit trail has the same. Null: a release before wrote it. */
  readonly operationId: string | null
}

const columns =
  'at timestamptz, player_id text, actor text, field text, previous text, next text, reason text, operation_id text'

/** A change with who made it and why. Nothing is recorded when nothing has changed. */
export interface MadeChange extends ChangedPlayer<PlayerRecord>, Pick<PlayerChange, 'actor' | 'reason'> {
  readonly operationId: string
}

export function insertChanges(made: readonly MadeChange[], now: Date): Fragment[] {
  const changes = made.flatMap(({ player, change, actor, reason, operationId }): PlayerChange[] =>
    change === null ? [] : [{ at: now, playerId: player.id, actor, reason, operationId, ...change }],
  )
  return changes.length === 0 ? [] : [sql`insert into player_change ${sql.rows('new', changes, columns)}`]
}

const changesMax = 200

/** The latest changes of a player, most recent first. */
export function latestChanges(db: ReadDb, playerId: IdOf<'player'>): Promise<PlayerChange[]> {
  return db<PlayerChange>`
    select ${sql.columns(columns)} from player_change where player_id = ${playerId} order by id desc limit ${changesMax}
  `
}

/** A limit that was raised, or removed, and whose it is. */
interface RaisedLimit {
  readonly playerId: IdOf<'player'>
  readonly name: string
  readonly operatorId: IdOf<'operator'>
  readonly brandId: IdOf<'brand'>
  readonly currency: string
  readonly previous: string
  readonly next: string | null
  readonly at: Date
  readonly actor: string
}

/** The latest since a time, most recent first. */
export const findRaisedLimits = (db: ReadDb, environment: Environment, since: Date): Promise<RaisedLimit[]> =>
  db<RaisedLimit>`
    select p.id as player_id, p.name, p.operator_id, p.brand_id, p.currency, c.previous, c.next, c.at, c.actor
    from player_change c join player p on p.id = c.player_id
    where c.field = 'dailyDepositLimit' and c.at >= ${since}::timestamptz and p.environment = ${environment}
      and c.previous is not null and (c.next is null or c.next::numeric > c.previous::numeric)
    order by c.at desc, c.id desc limit ${raisedMax}
  `

/** When something of the player last changed, or a game was opened; the beginning of time where nothing did. */
export async function findLastChange(db: ReadDb, playerId: IdOf<'player'>): Promise<Date> {
  const [last] = await db<{ at: Date }>`
    select greatest(
      (select at from player_change where player_id = ${playerId} order by id desc limit 1),
      (select max(created_at) from game_session where player_id = ${playerId}),
      'epoch'::timestamptz
    ) as at
  `
  return last?.at ?? new Date(0)
}

/** For the audit trail. */
export const auditedChange = ({ change }: { readonly change: FieldChange | null }): AuditedChange[] =>
  change === null ? [] : [{ field: change.field, before: change.previous, after: change.next }]

/** When a change of a limit begins to hold, where that is later than the change itself. */
export function limitHoldsFrom({ field, previous, next }: FieldChange, at: Date): Date | undefined {
  if (field !== 'dailyDepositLimit' || previous === null) return undefined
  const raises = next === null || toMinorUnits(next) > toMinorUnits(previous)
  return raises ? new Date(at.getTime() + coolingOffMs) : undefined
}
