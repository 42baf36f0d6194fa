import type { InFlight } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import { type Found, inFlightSecondsMax, listedMax } from './check.ts'

interface Row extends InFlight {
  readonly brandId: string | null
  readonly total: bigint
}

export interface InFlightFound {
  readonly total: number
  readonly listed: readonly InFlight[]
  /** Those of the listed that wait for too long. */
  readonly overdue: readonly Found[]
  /** How many more there are of each brand. */
  readonly unlisted: ReadonlyMap<string | null, number>
}

/** Effects that one service has committed and another has not finished. After too long they are differences. */
export async function findInFlight(db: ReadDb, at: Date): Promise<InFlightFound> {
  const aged = waitingAt(at)
  const rows = await db<Row>`
    ${aged}
    select service, name, subject, brand_id, age_seconds, count(*) over () as total
    from aged order by age_seconds desc limit ${listedMax}
  `
  const counted = await db<{ brandId: string | null; count: bigint }>`
    ${aged} select brand_id, count(*) as count from aged where age_seconds > ${inFlightSecondsMax} group by brand_id
  `
  const unlisted = new Map(counted.map(({ brandId, count }) => [brandId, Number(count)]))
  const overdue = rows.filter(({ ageSeconds }) => ageSeconds > inFlightSecondsMax)
  for (const { brandId } of overdue) unlisted.set(brandId, (unlisted.get(brandId) ?? 0) - 1)
  return {
    total: Number(rows[0]?.total ?? 0),
    listed: rows.map(({ service, name, subject, ageSeconds }) => ({ service, name, subject, ageSeconds })),
    overdue: overdue.map(({ brandId, service, name, subject, ageSeconds }) => ({
      brandId,
      subject,
      expected: `done within ${inFlightSecondsMax} s`,
      actual: `waiting for ${ageSeconds} s`,
      explanation: `${name} of ${service} has not been finished.`,
    })),
    unlisted,
  }
}

/** What is in flight, as `aged`: how long it has been. */
const waitingAt = (at: Date) => sql`
  with waiting as (
    select 'payments' as service, name, aggregate as subject, created_at,
        coalesce(message #>> '{scope,brandId}', message #>> '{event,brandId}') as brand_id
      from payments.outbox where done_at is null
    union all
    select 'wallet', name, aggregate, created_at, message -> 'scope' ->> 'brandId' from wallet.outbox where done_at is null
    union all
    -- Only commands: what else the service tells is not about money, and no concern of the reconciler's.
    select 'players', o.name, o.aggregate, o.created_at, p.brand_id
      from players.outbox o left join players.player p on p.id = o.aggregate where o.done_at is null and o.kind = 'command'
    union all
    select 'payments', 'intent', id, created_at, brand_id from payments.withdrawal where status = 'intent'
  ), aged as (
    select service, name, subject, brand_id,
      greatest(0, extract(epoch from ${at}::timestamptz - created_at))::integer as age_seconds
    from waiting
  )
`
