import type { Db, ReadDb } from '@backoffice/service-runtime'

export interface OpenRecords {
  readonly openDeposits: number
  readonly openWithdrawals: number
  readonly lastChangeAt: Date | null
}

interface PlayerKey {
  readonly brandId: string
  readonly playerId: string
}

/** An intent counts as open: it may become a withdrawal. */
export async function findOpenRecords(db: ReadDb, { brandId, playerId }: PlayerKey): Promise<OpenRecords> {
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

/** A trigger of the table allows this text alone. */
export const forgotten = 'anonymised'

/** Of withdrawals that have ended. One that is open still has to be paid. */
export async function forgetDestinations(db: Db, { brandId, playerId }: PlayerKey): Promise<void> {
  await db`
    update withdrawal set destination = ${forgotten}, sealed_destination = null
    where player_id = ${playerId} and brand_id = ${brandId} and destination <> ${forgotten}
      and status not in ('intent', 'under_review', 'approved')
  `
}
