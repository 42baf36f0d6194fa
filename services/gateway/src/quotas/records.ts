import type { Environment, StoredAmount } from '@backoffice/contracts'
import { type Db, type ReadDb, sql } from '@backoffice/service-runtime'
import type { AgreedLimits, DayUse } from './quota.ts'

/** The current day in UTC. PostgreSQL's clock tells it, for every replica alike. */
const today = sql`(now() at time zone 'utc')::date`

/** The day and what it has stored so far, of a row `u` that may be missing. */
export const useColumns = sql`
  ${today}::text as day, coalesce(u.bytes, 0)::float8 as bytes_stored, coalesce(u.rows, 0)::float8 as rows_stored
`
/** Whether a row `u` is of today: yesterday's counts for nothing. */
export const isOfToday = sql`u.day = ${today}`

export interface UseColumns {
  readonly day: string
  readonly bytesStored: number
  readonly rowsStored: number
}

export const useOf = ({ day, bytesStored: bytes, rowsStored: rows }: UseColumns): DayUse => ({ day, bytes, rows })

export interface Tenant {
  readonly operatorId: string
  readonly environment: Environment
}

/**
 * Adds to the day's counts, in the order of the tenants, so that two replicas cannot deadlock.
 * @returns the sums of all replicas
 */
export async function addUses(
  db: Db,
  uses: readonly (Tenant & StoredAmount)[],
): Promise<readonly (Tenant & UseColumns)[]> {
  return db<Tenant & UseColumns>`
    insert into daily_use as u (operator_id, environment, day, bytes, rows)
    select operator_id, environment, ${today}, bytes, rows
    from ${sql.unnest('a', uses, 'operator_id text, environment text, bytes bigint, rows bigint')}
    order by operator_id collate "C", environment collate "C"
    on conflict (operator_id, environment) do update set day = excluded.day,
      bytes = case when u.day = excluded.day then u.bytes else 0 end + excluded.bytes,
      rows = case when u.day = excluded.day then u.rows else 0 end + excluded.rows
    returning operator_id, environment, ${useColumns}
  `
}

/** Today's uses, of the operators with these ids; of all of them without ids. */
export async function findUses(
  db: ReadDb,
  operatorIds: readonly string[] | null,
): Promise<readonly (Tenant & AgreedLimits & UseColumns)[]> {
  return db<Tenant & AgreedLimits & UseColumns>`
    select u.operator_id, u.environment, o.rate_limit_per_minute, o.stored_mebibytes_per_day, o.stored_rows_per_day, ${useColumns}
    from daily_use u join operator o on o.id = u.operator_id
    where ${isOfToday} and (${operatorIds}::text[] is null or u.operator_id = any(${operatorIds}::text[]))
    order by u.operator_id, u.environment
  `
}
