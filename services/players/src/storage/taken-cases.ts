import { columnNames, type Db, type ReadDb } from '@backoffice/service-runtime'
import type { TakenCase } from '../domain/taken-case.ts'

const columns = columnNames('player_id text, taken_by text, taken_at timestamptz')

/** By player. Some may count no longer. */
export async function findTakenCases(
  db: ReadDb,
  playerIds: readonly string[],
): Promise<ReadonlyMap<string, TakenCase>> {
  const taken = await db<TakenCase>`select ${columns} from taken_case where player_id = any(${playerIds}::text[])`
  return new Map(taken.map((row) => [row.playerId, row]))
}

/** Writes who has a case, in place of who had it. The player's row must be locked. */
export async function saveTakenCase(db: Db, { playerId, takenBy, takenAt }: TakenCase): Promise<void> {
  await db`
    insert into taken_case (player_id, taken_by, taken_at) values (${playerId}, ${takenBy}, ${takenAt}::timestamptz)
    on conflict (player_id) do update set taken_by = excluded.taken_by, taken_at = excluded.taken_at
  `
}

/** The players' rows must be locked. */
export async function removeTakenCases(db: Db, playerIds: readonly string[]): Promise<void> {
  await db`delete from taken_case where player_id = any(${playerIds}::text[])`
}
