import { sql } from '@backoffice/service-runtime'
import type { PlayerTable } from '@backoffice/team-desk'
import type { Vault } from '@backoffice/vault'
import { destinationOf } from './sealed-destination.ts'

const recordsOf = (playerId: string) => sql`
  select id from deposit where player_id = ${playerId} union all select id from withdrawal where player_id = ${playerId}
`

type Values = Readonly<Record<string, string | null>>

/** Without the sealed column, which nobody can read without the keys. */
function openWithdrawal({ sealed_destination: sealedDestination = null, ...values }: Values, vault: Vault): Values {
  const { id, destination } = values
  const opened = destinationOf(vault, id ?? '', { destination: destination ?? '', sealedDestination })
  return { ...values, destination: opened.destination }
}

/** Every table with rows about players, but for copies, which are purged after days. */
export const playerTables: readonly PlayerTable[] = [
  { table: 'deposit', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'withdrawal', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}`, open: openWithdrawal },
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
  {
    table: 'team_proposal',
    key: 'id',
    isAbout: (playerId) => sql`
      input ->> 'commandId' in (
        select command_id from ended_command where deposit_id in (select id from deposit where player_id = ${playerId})
      )
    `,
  },
  { table: 'depositor', key: 'player_id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'audit_entry', key: 'id', isAbout: (playerId) => sql`subject in (${recordsOf(playerId)})` },
]
