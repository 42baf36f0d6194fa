import { type PlayerTable, sql } from '@backoffice/service-runtime'

const recordsOf = (playerId: string) => sql`
  select id from deposit where player_id = ${playerId} union all select id from withdrawal where player_id = ${playerId}
`

/** Every table with rows about players, but for copies, which are purged after days. */
export const playerTables: readonly PlayerTable[] = [
  { table: 'deposit', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'withdrawal', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  {
    table: 'status_transition',
    key: "record_id || ' ' || version",
    isAbout: (playerId) => sql`record_id in (${recordsOf(playerId)})`,
  },
  {
    table: 'ended_command',
    key: 'command_id',
    isAbout: (playerId) => sql`deposit_id in (select id from deposit where player_id = ${playerId})`,
  },
  { table: 'depositor', key: 'player_id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'audit_entry', key: 'id', isAbout: (playerId) => sql`subject in (${recordsOf(playerId)})` },
]
