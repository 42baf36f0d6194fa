import { operations } from '@backoffice/contracts'
import type { Vault } from '@backoffice/database/vault'
import { handle, type ReadDb, sql } from '@backoffice/service-runtime'
import { type PlayerTable, playerRows } from '@backoffice/team-access'
import { destinationOf, forgetDestinations as forget, type PlayerOfBrand } from '../withdrawals/destination.ts'

export interface OpenRecords {
  readonly openDeposits: number
  readonly openWithdrawals: number
  readonly lastChangeAt: Date | null
}

/** An intent counts as open: it may become a withdrawal. */
export async function findOpenRecords(db: ReadDb, { brandId, playerId }: PlayerOfBrand): Promise<OpenRecords> {
  const [found] = await db<OpenRecords>`
    select (count(*) filter (where is_deposit and is_open))::int as open_deposits,
      (count(*) filter (where not is_deposit and is_open))::int as open_withdrawals,
      max(changed_at) as last_change_at
    from (
      select true as is_deposit, status = 'pending' as is_open,
        greatest(created_at, confirmed_at, failed_at) as changed_at
      from deposit where player_id = ${playerId} and brand_id = ${brandId}
      union all
      select false, status in ('intent', 'under_review', 'approved'), updated_at
      from withdrawal where player_id = ${playerId} and brand_id = ${brandId}
    ) record
  `
  if (found === undefined) throw new Error('an aggregate has one row')
  return found
}

const recordsOf = (playerId: string) => sql`
  select id from deposit where player_id = ${playerId} union all select id from withdrawal where player_id = ${playerId}
`

type Values = Readonly<Record<string, string | null>>

/** Without the sealed column and its digest, which nobody can read without the keys, and without what is kept of a request. */
function openWithdrawal(row: Values, vault: Vault): Values {
  const { sealed_destination: sealedDestination = null, ...clear } = row
  const { destination_digest: _, key_digest: _ofOperator, key_until: _until, ...values } = clear
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
    table: 'payment_file',
    key: 'id',
    isAbout: (playerId) => sql`id in (select payment_file from withdrawal where player_id = ${playerId})`,
    // Of other players, too.
    open: ({ withdrawal_ids: _, ...values }) => values,
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

export const readOpenRecords = handle(operations.payments.readOpenRecords, async ({ input, scope }, { db }) => {
  const { lastChangeAt, ...open } = await findOpenRecords(db, { brandId: scope.brandId, playerId: input.playerId })
  return { ...open, lastChangeAt: lastChangeAt?.toISOString() ?? null }
})

export const exportPlayer = handle(operations.payments.exportPlayer, ({ input }, { db }) =>
  playerRows(db, playerTables, input),
)

/** A command of players' outbox, which no one can refuse: players has seen that no withdrawal is open. */
export const forgetDestinations = handle(operations.payments.forgetDestinations, async ({ input, scope }, { db }) => {
  await forget(db, { brandId: scope.brandId, playerId: input.playerId })
  return { playerId: input.playerId }
})
