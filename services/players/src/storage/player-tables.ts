import { type PlayerTable, sql } from '@backoffice/service-runtime'

/** Every table with rows about players, but for copies, which are purged after days. */
export const playerTables: readonly PlayerTable[] = [
  { table: 'player', key: 'id', isAbout: (playerId) => sql`id = ${playerId}` },
  { table: 'kyc_submission', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'player_change', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'game_session', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'audit_entry', key: 'id', isAbout: (playerId) => sql`subject = ${playerId}` },
]
