import { sql } from '@backoffice/service-runtime'
import type { PlayerTable } from '@backoffice/team-desk'

const accountOf = (playerId: string) => sql`select id from account where owner_id = ${playerId}`

/** Every table with rows about players, but for copies, which are purged after days. */
export const playerTables: readonly PlayerTable[] = [
  { table: 'account', key: 'id', isAbout: (playerId) => sql`owner_id = ${playerId}` },
  { table: 'entry', key: 'transfer_id', isAbout: (playerId) => sql`account_id in (${accountOf(playerId)})` },
  {
    table: 'transfer',
    key: 'id',
    isAbout: (playerId) => sql`debit_account in (${accountOf(playerId)}) or credit_account in (${accountOf(playerId)})`,
  },
  {
    table: 'hold',
    key: 'reference',
    isAbout: (playerId) => sql`account_id in (${accountOf(playerId)})`,
  },
  { table: 'audit_entry', key: 'id', isAbout: (playerId) => sql`subject = ${playerId}` },
  { table: 'team_proposal', key: 'id', isAbout: (playerId) => sql`input ->> 'playerId' = ${playerId}` },
]
