import type { InFlight } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import { type FoundDifference, inFlightSecondsMax, isNotOfFuture, listedMax } from './check.ts'

interface Row extends InFlight {
  readonly brandId: string | null
  readonly isOverdue: boolean
  readonly total: bigint
}

export interface InFlightFound {
  readonly total: number
  readonly listed: readonly InFlight[]
  /** Those of the listed that wait for too long. */
  readonly overdue: readonly FoundDifference[]
  /** How many more there are of each brand. */
  readonly unlisted: ReadonlyMap<string | null, number>
}

/** Effects that one service has committed and another has not finished. After too long they are differences. */
export async function findInFlight(db: ReadDb): Promise<InFlightFound> {
  const rows = await db<Row>`
    ${aged}
    select service, left(name, 64) as name, left(subject, 256) as subject, brand_id, age_seconds, is_overdue,
      count(*) over () as total
    from aged order by is_overdue desc, age_seconds desc limit ${listedMax}
  `
  const counted = await db<{ brandId: string | null; count: bigint }>`
    ${aged} select brand_id, count(*) as count from aged where is_overdue group by brand_id
  `
  const unlisted = new Map(counted.map(({ brandId, count }) => [brandId, Number(count)]))
  const overdue = rows.filter(({ isOverdue }) => isOverdue)
  for (const { brandId } of overdue) unlisted.set(brandId, (unlisted.get(brandId) ?? 0) - 1)
  return {
    total: Number(rows[0]?.total ?? 0),
    listed: rows.map(({ service, name, subject, ageSeconds }) => ({ service, name, subject, ageSeconds })),
    overdue: overdue.map(({ brandId, service, name, subject, ageSeconds }) => ({
      brandId,
      subject,
      expected: `done within ${inFlightSecondsMax} s`,
      actual: ageSeconds < 0 ? `of a time that comes in ${-ageSeconds} s` : `waiting for ${ageSeconds} s`,
      explanation: `${name} of ${service} has not been finished.`,
    })),
    unlisted,
  }
}

/** Beyond it a time is none that anybody would read; and the number is a small one for every time. */
const ageSecondsMax = 1_000_000_000

/** What is in flight, as `aged`: how long it has been, by PostgreSQL's clock, and whether that is too long. */
const aged = sql`
  with waiting as (
    select 'payments' as service, name, aggregate as subject, created_at, brand_id
      from payments.reconcilable_outbox
    union all
    select 'wallet', name, aggregate, created_at, brand_id from wallet.reconcilable_outbox
    union all
    -- Only commands: what else the service tells is not about money, and no concern of the reconciler's.
    select 'players', o.name, o.aggregate, o.created_at, p.brand_id
      from players.reconcilable_outbox o left join players.reconcilable_player p on p.id = o.aggregate where o.kind = 'command'
    union all
    select 'payments', 'intent', id, created_at, brand_id from payments.reconcilable_withdrawal where status = 'intent'
  ), aged as (
    select service, name, subject, brand_id,
      created_at < now() - make_interval(secs => ${inFlightSecondsMax}::int) or not ${isNotOfFuture(sql`created_at`)} as is_overdue,
      greatest(${-ageSecondsMax}::int, least(${ageSecondsMax}::int,
        floor(extract(epoch from now()) - extract(epoch from created_at))))::integer as age_seconds
    from waiting
  )
`
